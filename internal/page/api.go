package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/rerun"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
)

// What some sources know besides.
type (
	hinter interface {
		Hints(ctx context.Context, id string) ([]rerun.Hint, error)
	}
	filer interface {
		File(ctx context.Context, id, path string) (*rerun.FileText, error)
	}
	besider interface {
		Beside(ctx context.Context, id string) (*rerun.Beside, error)
	}
)

// aboutOf says what a source can show.
func aboutOf(s control.Source, note string) About {
	_, files := s.(filer)
	_, hints := s.(hinter)
	return About{Note: note, Files: files, Hints: hints}
}

// api serves the interface of docs/control.md for one source.
type api struct{ control.Source }

// route puts the addresses below a path that ends in a slash into a mux.
func (a api) route(mux *http.ServeMux, path string) {
	get := func(pattern string, of func(r *http.Request) (any, error)) {
		mux.HandleFunc("GET "+path+pattern, func(w http.ResponseWriter, r *http.Request) {
			doc, err := of(r)
			answer(w, doc, err)
		})
	}
	get("conversations", func(r *http.Request) (any, error) {
		limit, err := number(r, "limit", 0)
		if err != nil {
			return nil, err
		}
		all, err := a.Conversations(r.Context(), control.List{Words: r.URL.Query().Get("q"), Limit: limit})
		return map[string]any{"conversations": all}, err
	})
	get("conversations/{id}", func(r *http.Request) (any, error) { return a.Conversation(r.Context(), r.PathValue("id")) })
	get("conversations/{id}/messages", func(r *http.Request) (any, error) {
		from, err := number(r, "from", 0)
		limit, err2 := number(r, "limit", 0)
		if err = errors.Join(err, err2); err != nil {
			return nil, err
		}
		return a.Messages(r.Context(), r.PathValue("id"), from, limit)
	})
	get("conversations/{id}/files", func(r *http.Request) (any, error) { return a.Files(r.Context(), r.PathValue("id")) })
	get("conversations/{id}/search", func(r *http.Request) (any, error) {
		return a.Find(r.Context(), r.PathValue("id"), recall.Query{Words: r.URL.Query().Get("q")})
	})
	get("plans/{id}", func(r *http.Request) (any, error) { return a.Plan(r.Context(), planID(r)) })
	get("plans/{id}/report", func(r *http.Request) (any, error) { return a.Report(r.Context(), planID(r)) })
	get("plans/{id}/patch", func(r *http.Request) (any, error) { return a.Patch(r.Context(), planID(r)) })
	get("recall/{handle}", func(r *http.Request) (any, error) {
		from, err := number(r, "from", 0)
		lines, err2 := number(r, "lines", 0)
		if err = errors.Join(err, err2); err != nil {
			return nil, err
		}
		return a.Recall(r.Context(), r.PathValue("handle"), recall.Range{From: from, Lines: lines, Find: r.URL.Query().Get("find")})
	})
	if s, ok := a.Source.(hinter); ok {
		get("conversations/{id}/hints", func(r *http.Request) (any, error) {
			hints, err := s.Hints(r.Context(), r.PathValue("id"))
			return map[string]any{"hints": hints}, err
		})
	}
	if s, ok := a.Source.(filer); ok {
		get("conversations/{id}/file", func(r *http.Request) (any, error) {
			return s.File(r.Context(), r.PathValue("id"), r.URL.Query().Get("path"))
		})
	}
	if s, ok := a.Source.(besider); ok {
		get("conversations/{id}/beside", func(r *http.Request) (any, error) { return s.Beside(r.Context(), r.PathValue("id")) })
	}
	mux.HandleFunc("GET "+path+"conversations/{id}/events", a.events)
	post(mux, path+"conversations/{id}/compact", a.Compact)
	post(mux, path+"conversations/{id}/undo", a.Undo)
	post(mux, path+"conversations/{id}/pin", a.Pin)
	post(mux, path+"conversations/{id}/unpin", a.Unpin)
}

func planID(r *http.Request) plan.ID { return plan.ID(r.PathValue("id")) }

func number(r *http.Request, name string, none int) (int, error) {
	s := r.URL.Query().Get(name)
	if s == "" {
		return none, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s must be a number: %w", name, control.ErrInvalid)
	}
	return n, nil
}

// maxAction is the most that the body of an action may have.
const maxAction = 64 << 10

// post serves an action.
func post[A any](mux *http.ServeMux, path string, act func(context.Context, string, A) (*control.Done, error)) {
	mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Content-Type") != "application/json" {
			refuse(w, http.StatusUnsupportedMediaType, "send application/json", nil)
			return
		}
		body := struct {
			Plan *plan.ID `json:"plan"`
			Part *int     `json:"part"`
		}{}
		var a A
		data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAction))
		if err == nil {
			err = errors.Join(json.Unmarshal(data, &body), json.Unmarshal(data, &a))
		}
		if err != nil || body.Plan == nil {
			refuse(w, http.StatusBadRequest, "the body must be a JSON object that names the plan it is based on", nil)
			return
		}
		if m, ok := any(&a).(*control.Mark); ok && body.Part == nil {
			m.Part = -1
		}
		doc, err := act(r.Context(), r.PathValue("id"), a)
		answer(w, doc, err)
	})
}

// answer writes a document, or says why there is none.
func answer(w http.ResponseWriter, doc any, err error) {
	var conflict *control.ConflictError
	switch {
	case err == nil:
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		_ = json.NewEncoder(w).Encode(doc) // whoever went away gets nothing
	case errors.As(err, &conflict):
		refuse(w, http.StatusConflict, err.Error(), map[string]any{"plan": conflict.InForce})
	case errors.Is(err, control.ErrUnknown), errors.Is(err, recall.ErrUnknown):
		refuse(w, http.StatusNotFound, err.Error(), nil)
	case errors.Is(err, control.ErrGone), errors.Is(err, recall.ErrGone):
		refuse(w, http.StatusGone, err.Error(), nil)
	case errors.Is(err, recall.ErrAmbiguous):
		refuse(w, http.StatusConflict, err.Error(), nil)
	case errors.Is(err, control.ErrNothing):
		refuse(w, http.StatusUnprocessableEntity, err.Error(), nil)
	case errors.Is(err, control.ErrInvalid):
		refuse(w, http.StatusBadRequest, err.Error(), nil)
	default:
		refuse(w, http.StatusInternalServerError, err.Error(), nil)
	}
}

func refuse(w http.ResponseWriter, status int, why string, more map[string]any) {
	doc := map[string]any{"type": "error", "error": map[string]any{"code": status, "message": why}}
	for k, v := range more {
		doc[k] = v
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(doc) // whoever went away gets nothing
}

// stillHere is how often a line goes out where nothing happens.
const stillHere = 15 * time.Second

// events sends what happens to a conversation.
func (a api) events(w http.ResponseWriter, r *http.Request) {
	since, err := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64)
	if err != nil {
		since, err = strconv.ParseInt(r.URL.Query().Get("since"), 10, 64)
	}
	d, known := a.Conversation(r.Context(), r.PathValue("id"))
	if known != nil {
		answer(w, nil, known)
		return
	}
	if err != nil {
		since = d.Revision - 1
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	for {
		if err := out.Flush(); err != nil || r.Context().Err() != nil {
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), stillHere)
		c, err := a.Since(ctx, d.ID, since)
		cancel()
		switch {
		case r.Context().Err() != nil:
			return
		case errors.Is(err, context.DeadlineExceeded):
			fmt.Fprint(w, ": still here\n\n")
			continue
		case err != nil:
			return
		}
		if c.Missed {
			event(w, "missed", 0, struct{}{})
		}
		for i := range c.Requests {
			event(w, "request", c.Requests[i].Revision, c.Requests[i])
		}
		event(w, "conversation", c.Revision, c.Conversation)
		since = c.Revision
	}
}

func event(w http.ResponseWriter, kind string, id int64, doc any) {
	data, err := json.Marshal(doc)
	if err != nil {
		return
	}
	if id > 0 {
		fmt.Fprintf(w, "id: %d\n", id)
	}
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, data)
}
