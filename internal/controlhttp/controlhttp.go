// Package controlhttp serves a [control.Source] as JSON under /winnow/: the
// gateway's conversations, and those of a store of sessions. docs/control.md
// lists the addresses. The program that mounts it decides who may ask, and under
// which name.
package controlhttp

import (
	"bytes"
	"cmp"
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
	"github.com/winnow-llm/winnow/recall"
)

// maxAction is the largest body of an action: a focus is a few sentences.
const maxAction = 64 << 10

// Routes returns the addresses, each with its handler.
func Routes(of func(*http.Request) control.Source) map[string]http.HandlerFunc {
	s := server{of}
	return map[string]http.HandlerFunc{
		"GET /winnow/conversations":      s.listConversations,
		"GET /winnow/conversations/{id}": show(s, control.Source.Conversation),
		"DELETE /winnow/conversations/{id}": s.answer(func(r *http.Request, c control.Source) (any, error) {
			ids, err := c.Delete(r.Context(), r.PathValue("id"))
			return map[string]any{"deleted": ids}, err
		}),
		"GET /winnow/conversations/{id}/events":   s.streamEvents,
		"GET /winnow/conversations/{id}/messages": s.showMessages,
		"GET /winnow/conversations/{id}/view": s.answer(func(r *http.Request, c control.Source) (any, error) {
			return c.View(r.Context(), r.PathValue("id"), nil)
		}),
		"GET /winnow/conversations/{id}/files": show(s, control.Source.Files),
		"GET /winnow/conversations/{id}/file": s.answer(func(r *http.Request, c control.Source) (any, error) {
			return c.File(r.Context(), r.PathValue("id"), r.URL.Query().Get("path"))
		}),
		"GET /winnow/conversations/{id}/hints": s.answer(func(r *http.Request, c control.Source) (any, error) {
			hints, err := c.Hints(r.Context(), r.PathValue("id"))
			return map[string]any{"hints": hints}, err
		}),
		"GET /winnow/conversations/{id}/search": s.findWords,
		"GET /winnow/plans/{id}":                show(s, control.Source.Plan),
		"GET /winnow/plans/{id}/report":         show(s, control.Source.Report),
		"GET /winnow/plans/{id}/patch":          show(s, control.Source.Patch),
		"POST /winnow/conversations/{id}/preview": act(s, func(c control.Source, ctx context.Context, id string, a control.Compact) (*control.View, error) {
			return c.View(ctx, id, &a)
		}),
		"POST /winnow/conversations/{id}/compact": act(s, control.Source.Compact),
		"POST /winnow/conversations/{id}/undo":    act(s, control.Source.Undo),
		"POST /winnow/conversations/{id}/pin":     act(s, control.Source.Pin),
		"POST /winnow/conversations/{id}/unpin":   act(s, control.Source.Unpin),
		"POST /winnow/conversations/{id}/note":    act(s, control.Source.Note),
		"GET /winnow/recall/{handle}":             s.recallLines,
		"GET /winnow/recall/{handle}/place": s.answer(func(r *http.Request, c control.Source) (any, error) {
			return c.Locate(r.Context(), r.PathValue("handle"))
		}),
		"GET /winnow/search": s.findWords,
	}
}

type server struct {
	of func(*http.Request) control.Source
}

// answer answers with what a source returns.
func (s server) answer(ask func(*http.Request, control.Source) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		doc, err := ask(r, s.of(r))
		replyOrRefuse(w, doc, err)
	}
}

// show answers with what has the id of the address.
func show[I ~string, D any](s server, ask func(control.Source, context.Context, I) (D, error)) http.HandlerFunc {
	return s.answer(func(r *http.Request, c control.Source) (any, error) { return ask(c, r.Context(), I(r.PathValue("id"))) })
}

func (s server) listConversations(w http.ResponseWriter, r *http.Request) {
	q := control.List{Words: r.URL.Query().Get("q")}
	if !readNumbers(w, r, "limit", &q.Limit) {
		return
	}
	all, err := s.of(r).Conversations(r.Context(), q)
	replyOrRefuse(w, map[string]any{"conversations": all}, err)
}

func (s server) showMessages(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	which := control.Wanted{Role: chat.Role(q.Get("role")), Tool: q.Get("tool"), Shown: q.Get("shown"), Pinned: q.Get("pinned") == "1" || q.Get("pinned") == "true"}
	if !readNumbers(w, r, "from", &which.From, "limit", &which.Limit) {
		return
	}
	m, err := s.of(r).Messages(r.Context(), r.PathValue("id"), which)
	replyOrRefuse(w, m, err)
}

// findWords searches one conversation where the address names it, and all otherwise.
func (s server) findWords(w http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	q := recall.Query{Words: v.Get("q"), All: v.Get("all") == "true" || v.Get("all") == "1"}
	if !readNumbers(w, r, "limit", &q.Limit) {
		return
	}
	if strings.TrimSpace(q.Words) == "" {
		Refuse(w, http.StatusBadRequest, "winnow: there are no words to search for; write ?q=WORDS")
		return
	}
	find := s.of(r).Search
	if id := r.PathValue("id"); id != "" {
		find = func(ctx context.Context, q recall.Query) (recall.Results, error) { return s.of(r).Find(ctx, id, q) }
	}
	found, err := find(r.Context(), q)
	replyOrRefuse(w, found, err)
}

func (s server) recallLines(w http.ResponseWriter, r *http.Request) {
	lines := recall.Range{Find: r.URL.Query().Get("find")}
	if !readNumbers(w, r, "from", &lines.From, "lines", &lines.Lines) {
		return
	}
	p, err := s.of(r).Recall(r.Context(), r.PathValue("handle"), lines)
	replyOrRefuse(w, p, err)
}

// act reads the body of an action, acts on the conversation that has the id of the
// address, and answers with what that did.
func act[A, D any](s server, do func(control.Source, context.Context, string, A) (D, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
			Refuse(w, http.StatusUnsupportedMediaType, "winnow: send the action as application/json")
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAction))
		if err != nil {
			Refuse(w, http.StatusBadRequest, "winnow: the action cannot be read: "+err.Error())
			return
		}
		var a A
		mark, isMark := any(&a).(*control.Mark)
		if isMark {
			mark.Part = -1 // the whole message, where no part is named
		}
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		fields := make(map[string]json.RawMessage)
		if err := cmp.Or(json.Unmarshal(body, &fields), d.Decode(&a)); err != nil {
			Refuse(w, http.StatusBadRequest, "winnow: the action is not valid: "+err.Error()+"; see docs/control.md")
			return
		}
		if _, ok := fields["plan"]; !ok {
			Refuse(w, http.StatusBadRequest, `winnow: the action does not name the plan that it is based on; add "plan", which GET /winnow/conversations/ID shows, "" for none`)
			return
		}
		if isMark && fields["message"] == nil {
			Refuse(w, http.StatusBadRequest, `winnow: name the message, as in {"plan": ID, "message": 3}`)
			return
		}
		done, err := do(s.of(r), r.Context(), r.PathValue("id"), a)
		replyOrRefuse(w, done, err)
	}
}

// readNumbers reads parameters, names and places in turn, or says what is wrong with
// one.
func readNumbers(w http.ResponseWriter, r *http.Request, pairs ...any) bool {
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

// replyOrRefuse answers with a document, or says why there is none.
func replyOrRefuse(w http.ResponseWriter, doc any, err error) {
	if err == nil {
		Reply(w, http.StatusOK, doc)
		return
	}
	if conflict, ok := errors.AsType[*control.ConflictError](err); ok {
		body := refusalBody(http.StatusConflict, "winnow: "+conflict.Error())
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
	Reply(w, status, refusalBody(status, message))
}

func refusalBody(status int, message string) map[string]any {
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
