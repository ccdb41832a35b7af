// Package controlhttp serves a [control.Source] as JSON under /winnow/: the
// gateway's conversations, and those of a store of sessions. docs/control.md
// lists the addresses. The program that mounts it decides who may ask, and under
// which name.
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

// Routes returns the addresses, each with its handler.
func Routes(of func(*http.Request) control.Source) map[string]http.HandlerFunc {
	s := server{of}
	return map[string]http.HandlerFunc{
		"GET /winnow/conversations":               s.listConversations,
		"GET /winnow/conversations/{id}":          s.showConversation,
		"DELETE /winnow/conversations/{id}":       s.deleteConversation,
		"GET /winnow/conversations/{id}/events":   s.streamEvents,
		"GET /winnow/conversations/{id}/messages": s.showMessages,
		"GET /winnow/conversations/{id}/view":     s.showView,
		"GET /winnow/conversations/{id}/files":    s.showFiles,
		"GET /winnow/conversations/{id}/file":     s.showFile,
		"GET /winnow/conversations/{id}/hints":    s.showHints,
		"GET /winnow/conversations/{id}/search":   s.findInConversation,
		"GET /winnow/plans/{id}":                  s.showPlan,
		"GET /winnow/plans/{id}/report":           s.showReport,
		"GET /winnow/plans/{id}/patch":            s.showPatch,
		"POST /winnow/conversations/{id}/preview": s.previewCompaction,
		"POST /winnow/conversations/{id}/compact": s.compactConversation,
		"POST /winnow/conversations/{id}/undo":    s.undoPlan,
		"POST /winnow/conversations/{id}/pin":     s.pinMessage,
		"POST /winnow/conversations/{id}/unpin":   s.unpinMessage,
		"POST /winnow/conversations/{id}/note":    s.writeNote,
		"GET /winnow/recall/{handle}":             s.recallLines,
		"GET /winnow/recall/{handle}/place":       s.locateHandle,
		"GET /winnow/search":                      s.searchAll,
	}
}

type server struct {
	of func(*http.Request) control.Source
}

func (s server) listConversations(w http.ResponseWriter, r *http.Request) {
	q := control.List{Words: r.URL.Query().Get("q")}
	if !readNumbers(w, r, "limit", &q.Limit) {
		return
	}
	all, err := s.of(r).Conversations(r.Context(), q)
	replyOrRefuse(w, map[string]any{"conversations": all}, err)
}

func (s server) showConversation(w http.ResponseWriter, r *http.Request) {
	d, err := s.of(r).Conversation(r.Context(), r.PathValue("id"))
	replyOrRefuse(w, d, err)
}

func (s server) deleteConversation(w http.ResponseWriter, r *http.Request) {
	ids, err := s.of(r).Delete(r.Context(), r.PathValue("id"))
	replyOrRefuse(w, map[string]any{"deleted": ids}, err)
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

func (s server) showView(w http.ResponseWriter, r *http.Request) {
	v, err := s.of(r).View(r.Context(), r.PathValue("id"), nil)
	replyOrRefuse(w, v, err)
}

func (s server) showFiles(w http.ResponseWriter, r *http.Request) {
	f, err := s.of(r).Files(r.Context(), r.PathValue("id"))
	replyOrRefuse(w, f, err)
}

func (s server) showFile(w http.ResponseWriter, r *http.Request) {
	f, err := s.of(r).File(r.Context(), r.PathValue("id"), r.URL.Query().Get("path"))
	replyOrRefuse(w, f, err)
}

func (s server) showHints(w http.ResponseWriter, r *http.Request) {
	hints, err := s.of(r).Hints(r.Context(), r.PathValue("id"))
	replyOrRefuse(w, map[string]any{"hints": hints}, err)
}

// readQuery reads what is looked for.
func readQuery(w http.ResponseWriter, r *http.Request) (recall.Query, bool) {
	v := r.URL.Query()
	q := recall.Query{Words: v.Get("q"), All: v.Get("all") == "true" || v.Get("all") == "1"}
	if !readNumbers(w, r, "limit", &q.Limit) {
		return q, false
	}
	if strings.TrimSpace(q.Words) == "" {
		Refuse(w, http.StatusBadRequest, "winnow: there are no words to search for; write ?q=WORDS")
		return q, false
	}
	return q, true
}

func (s server) findInConversation(w http.ResponseWriter, r *http.Request) {
	if q, ok := readQuery(w, r); ok {
		found, err := s.of(r).Find(r.Context(), r.PathValue("id"), q)
		replyOrRefuse(w, found, err)
	}
}

func (s server) searchAll(w http.ResponseWriter, r *http.Request) {
	if q, ok := readQuery(w, r); ok {
		found, err := s.of(r).Search(r.Context(), q)
		replyOrRefuse(w, found, err)
	}
}

func (s server) recallLines(w http.ResponseWriter, r *http.Request) {
	lines := recall.Range{Find: r.URL.Query().Get("find")}
	if !readNumbers(w, r, "from", &lines.From, "lines", &lines.Lines) {
		return
	}
	p, err := s.of(r).Recall(r.Context(), r.PathValue("handle"), lines)
	replyOrRefuse(w, p, err)
}

func (s server) locateHandle(w http.ResponseWriter, r *http.Request) {
	p, err := s.of(r).Locate(r.Context(), r.PathValue("handle"))
	replyOrRefuse(w, p, err)
}

func planID(r *http.Request) plan.ID { return plan.ID(r.PathValue("id")) }

func (s server) showPlan(w http.ResponseWriter, r *http.Request) {
	p, err := s.of(r).Plan(r.Context(), planID(r))
	replyOrRefuse(w, p, err)
}

func (s server) showReport(w http.ResponseWriter, r *http.Request) {
	rep, err := s.of(r).Report(r.Context(), planID(r))
	replyOrRefuse(w, rep, err)
}

func (s server) showPatch(w http.ResponseWriter, r *http.Request) {
	p, err := s.of(r).Patch(r.Context(), planID(r))
	replyOrRefuse(w, p, err)
}

func (s server) previewCompaction(w http.ResponseWriter, r *http.Request) {
	serveAction(w, r, func(a control.Compact) (*control.View, error) {
		return s.of(r).View(r.Context(), r.PathValue("id"), &a)
	})
}

func (s server) compactConversation(w http.ResponseWriter, r *http.Request) {
	serveAction(w, r, func(a control.Compact) (*control.Done, error) {
		return s.of(r).Compact(r.Context(), r.PathValue("id"), a)
	})
}

func (s server) undoPlan(w http.ResponseWriter, r *http.Request) {
	serveAction(w, r, func(a control.Undo) (*control.Done, error) {
		return s.of(r).Undo(r.Context(), r.PathValue("id"), a)
	})
}

func (s server) pinMessage(w http.ResponseWriter, r *http.Request) {
	serveAction(w, r, func(a control.Mark) (*control.Done, error) { return s.of(r).Pin(r.Context(), r.PathValue("id"), a) })
}

func (s server) unpinMessage(w http.ResponseWriter, r *http.Request) {
	serveAction(w, r, func(a control.Mark) (*control.Done, error) { return s.of(r).Unpin(r.Context(), r.PathValue("id"), a) })
}

func (s server) writeNote(w http.ResponseWriter, r *http.Request) {
	serveAction(w, r, func(a control.Write) (*control.Done, error) { return s.of(r).Note(r.Context(), r.PathValue("id"), a) })
}

// serveAction reads the body of an action and answers with what it did.
func serveAction[A, D any](w http.ResponseWriter, r *http.Request, do func(A) (D, error)) {
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
	replyOrRefuse(w, done, err)
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
	var conflict *control.ConflictError
	if errors.As(err, &conflict) {
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
