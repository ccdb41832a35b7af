// Package controlhttp serves a [control.Source] as JSON under /winnow/: the
// gateway's conversations, and those of a store of sessions. docs/control.md
// lists the addresses. Who may ask, and under which name, is decided by whoever
// mounts it.
package controlhttp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
)

// maxAction is the largest body of an action: a focus is a few sentences.
const maxAction = 64 << 10

// Routes are the addresses, each with its handler.
func Routes(of func(*http.Request) control.Source) map[string]http.HandlerFunc {
	s := server{of}
	return map[string]http.HandlerFunc{
		"GET /winnow/conversations":               s.list,
		"GET /winnow/conversations/{id}":          s.one,
		"DELETE /winnow/conversations/{id}":       s.remove,
		"GET /winnow/conversations/{id}/events":   s.events,
		"GET /winnow/conversations/{id}/messages": s.messages,
		"GET /winnow/conversations/{id}/view":     s.view,
		"GET /winnow/conversations/{id}/files":    s.files,
		"GET /winnow/conversations/{id}/file":     s.file,
		"GET /winnow/conversations/{id}/hints":    s.hints,
		"GET /winnow/conversations/{id}/search":   s.find,
		"GET /winnow/plans/{id}":                  s.plan,
		"GET /winnow/plans/{id}/report":           s.report,
		"GET /winnow/plans/{id}/patch":            s.patch,
		"POST /winnow/conversations/{id}/preview": s.preview,
		"POST /winnow/conversations/{id}/compact": s.compact,
		"POST /winnow/conversations/{id}/undo":    s.undo,
		"POST /winnow/conversations/{id}/pin":     s.pin,
		"POST /winnow/conversations/{id}/unpin":   s.unpin,
		"POST /winnow/conversations/{id}/note":    s.note,
		"GET /winnow/recall/{handle}":             s.recall,
		"GET /winnow/recall/{handle}/place":       s.place,
		"GET /winnow/search":                      s.search,
	}
}

type server struct {
	of func(*http.Request) control.Source
}

func (s server) list(w http.ResponseWriter, r *http.Request) {
	q := control.List{Words: r.URL.Query().Get("q")}
	if !numbers(w, r, "limit", &q.Limit) {
		return
	}
	all, err := s.of(r).Conversations(r.Context(), q)
	tell(w, map[string]any{"conversations": all}, err)
}

func (s server) one(w http.ResponseWriter, r *http.Request) {
	d, err := s.of(r).Conversation(r.Context(), r.PathValue("id"))
	tell(w, d, err)
}

func (s server) remove(w http.ResponseWriter, r *http.Request) {
	ids, err := s.of(r).Delete(r.Context(), r.PathValue("id"))
	tell(w, map[string]any{"deleted": ids}, err)
}

func (s server) messages(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	which := control.Wanted{Role: chat.Role(q.Get("role")), Tool: q.Get("tool"), Shown: q.Get("shown"), Pinned: q.Get("pinned") == "1" || q.Get("pinned") == "true"}
	if !numbers(w, r, "from", &which.From, "limit", &which.Limit) {
		return
	}
	m, err := s.of(r).Messages(r.Context(), r.PathValue("id"), which)
	tell(w, m, err)
}

func (s server) view(w http.ResponseWriter, r *http.Request) {
	v, err := s.of(r).View(r.Context(), r.PathValue("id"), nil)
	tell(w, v, err)
}

func (s server) files(w http.ResponseWriter, r *http.Request) {
	f, err := s.of(r).Files(r.Context(), r.PathValue("id"))
	tell(w, f, err)
}

func (s server) file(w http.ResponseWriter, r *http.Request) {
	f, err := s.of(r).File(r.Context(), r.PathValue("id"), r.URL.Query().Get("path"))
	tell(w, f, err)
}

func (s server) hints(w http.ResponseWriter, r *http.Request) {
	hints, err := s.of(r).Hints(r.Context(), r.PathValue("id"))
	tell(w, map[string]any{"hints": hints}, err)
}

// query reads what is looked for.
func query(w http.ResponseWriter, r *http.Request) (recall.Query, bool) {
	v := r.URL.Query()
	q := recall.Query{Words: v.Get("q"), All: v.Get("all") == "true" || v.Get("all") == "1"}
	if !numbers(w, r, "limit", &q.Limit) {
		return q, false
	}
	if strings.TrimSpace(q.Words) == "" {
		Refuse(w, http.StatusBadRequest, "winnow: there are no words to search for; write ?q=WORDS")
		return q, false
	}
	return q, true
}

func (s server) find(w http.ResponseWriter, r *http.Request) {
	if q, ok := query(w, r); ok {
		found, err := s.of(r).Find(r.Context(), r.PathValue("id"), q)
		tell(w, found, err)
	}
}

func (s server) search(w http.ResponseWriter, r *http.Request) {
	if q, ok := query(w, r); ok {
		found, err := s.of(r).Search(r.Context(), q)
		tell(w, found, err)
	}
}

func (s server) recall(w http.ResponseWriter, r *http.Request) {
	lines := recall.Range{Find: r.URL.Query().Get("find")}
	if !numbers(w, r, "from", &lines.From, "lines", &lines.Lines) {
		return
	}
	p, err := s.of(r).Recall(r.Context(), r.PathValue("handle"), lines)
	tell(w, p, err)
}

func (s server) place(w http.ResponseWriter, r *http.Request) {
	p, err := s.of(r).Locate(r.Context(), r.PathValue("handle"))
	tell(w, p, err)
}

func planID(r *http.Request) plan.ID { return plan.ID(r.PathValue("id")) }

func (s server) plan(w http.ResponseWriter, r *http.Request) {
	p, err := s.of(r).Plan(r.Context(), planID(r))
	tell(w, p, err)
}

func (s server) report(w http.ResponseWriter, r *http.Request) {
	rep, err := s.of(r).Report(r.Context(), planID(r))
	tell(w, rep, err)
}

func (s server) patch(w http.ResponseWriter, r *http.Request) {
	p, err := s.of(r).Patch(r.Context(), planID(r))
	tell(w, p, err)
}

func (s server) preview(w http.ResponseWriter, r *http.Request) {
	act(w, r, func(a control.Compact) (*control.View, error) {
		return s.of(r).View(r.Context(), r.PathValue("id"), &a)
	})
}

func (s server) compact(w http.ResponseWriter, r *http.Request) {
	act(w, r, func(a control.Compact) (*control.Done, error) {
		return s.of(r).Compact(r.Context(), r.PathValue("id"), a)
	})
}

func (s server) undo(w http.ResponseWriter, r *http.Request) {
	act(w, r, func(a control.Undo) (*control.Done, error) {
		return s.of(r).Undo(r.Context(), r.PathValue("id"), a)
	})
}

func (s server) pin(w http.ResponseWriter, r *http.Request) {
	act(w, r, func(a control.Mark) (*control.Done, error) { return s.of(r).Pin(r.Context(), r.PathValue("id"), a) })
}

func (s server) unpin(w http.ResponseWriter, r *http.Request) {
	act(w, r, func(a control.Mark) (*control.Done, error) { return s.of(r).Unpin(r.Context(), r.PathValue("id"), a) })
}

func (s server) note(w http.ResponseWriter, r *http.Request) {
	act(w, r, func(a control.Write) (*control.Done, error) { return s.of(r).Note(r.Context(), r.PathValue("id"), a) })
}

// act reads the body of an action and answers with what it did.
func act[A, D any](w http.ResponseWriter, r *http.Request, do func(A) (D, error)) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		Refuse(w, http.StatusUnsupportedMediaType, "winnow: send the action as application/json")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAction))
	if err != nil {
		Refuse(w, http.StatusBadRequest, "winnow: the action cannot be read: "+err.Error())
		return
	}
	fields := make(map[string]json.RawMessage)
	var a A
	err = json.Unmarshal(body, &fields)
	if _, mark := any(a).(control.Mark); err == nil && mark && fields["part"] == nil {
		fields["part"] = json.RawMessage("-1") // the whole message
		body, err = json.Marshal(fields)
	}
	if err == nil {
		d := json.NewDecoder(strings.NewReader(string(body)))
		d.DisallowUnknownFields()
		err = d.Decode(&a)
	}
	if err != nil {
		Refuse(w, http.StatusBadRequest, "winnow: the action is not valid: "+err.Error()+"; see docs/control.md")
		return
	}
	if _, ok := fields["plan"]; !ok {
		Refuse(w, http.StatusBadRequest, `winnow: the action does not name the plan that it is based on; add "plan", which GET /winnow/conversations/ID shows, "" for none`)
		return
	}
	if _, mark := any(a).(control.Mark); mark && fields["message"] == nil {
		Refuse(w, http.StatusBadRequest, `winnow: name the message, as in {"plan": ID, "message": 3}`)
		return
	}
	done, err := do(a)
	tell(w, done, err)
}

// numbers reads parameters, names and places in turn, or says what is wrong with
// one.
func numbers(w http.ResponseWriter, r *http.Request, pairs ...any) bool {
	q := r.URL.Query()
	for i := 0; i < len(pairs); i += 2 {
		name := pairs[i].(string)
		text := q.Get(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			Refuse(w, http.StatusBadRequest, "winnow: "+name+" must be a number, and not below 0")
			return false
		}
		*pairs[i+1].(*int) = n
	}
	return true
}

// tell answers with a document, or says why there is none.
func tell(w http.ResponseWriter, doc any, err error) {
	if err == nil {
		Reply(w, http.StatusOK, doc)
		return
	}
	var conflict *control.ConflictError
	if errors.As(err, &conflict) {
		body := refusal(http.StatusConflict, "winnow: "+conflict.Error())
		body["plan"] = conflict.InForce
		Reply(w, http.StatusConflict, body)
		return
	}
	for _, known := range []struct {
		err    error
		status int
	}{
		{recall.ErrUnknown, http.StatusNotFound},
		{recall.ErrAmbiguous, http.StatusConflict},
		{recall.ErrGone, http.StatusGone},
		{control.ErrUnknown, http.StatusNotFound},
		{control.ErrGone, http.StatusGone},
		{control.ErrNothing, http.StatusUnprocessableEntity},
		{control.ErrInvalid, http.StatusBadRequest},
	} {
		if errors.Is(err, known.err) {
			Refuse(w, known.status, "winnow: "+err.Error())
			return
		}
	}
	if errors.Is(err, context.Canceled) {
		w.WriteHeader(499) // nobody is there to read it
		return
	}
	Refuse(w, http.StatusInternalServerError, "winnow: what was asked for cannot be read")
}

// Refuse answers with an error that clients of all dialects can read.
func Refuse(w http.ResponseWriter, status int, message string) {
	Reply(w, status, refusal(status, message))
}

func refusal(status int, message string) map[string]any {
	name := strings.ReplaceAll(strings.ToLower(http.StatusText(status)), " ", "_")
	return map[string]any{"type": "error", "error": map[string]any{
		"type": name, "message": message, "code": status, "status": strings.ToUpper(name),
	}}
}

// Reply answers with a document.
func Reply(w http.ResponseWriter, status int, doc any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(doc) // the caller may be gone
}
