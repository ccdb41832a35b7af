package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strconv"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/session"
)

// openSteering opens what these flags say can be steered: the conversations of a
// gateway, asked itself or through its file, else the sessions of the store. Done
// must be called.
func (f *recallFlags) openSteering(ctx context.Context, a *app) (s control.Steering, done func(), err error) {
	done = func() {}
	store, err := f.openPlans(a)
	if err != nil {
		return nil, done, err
	}
	if store != nil {
		done = func() { _ = store.Close() } // its actions are written already
	}
	switch address := f.gatewayAddress(a); {
	case address != "" && f.session == "":
		s, err = a.gatewayAt(ctx, address, store)
	case store != nil && f.session == "":
		t, tenants, err := f.fileOf(ctx, store)
		if err != nil {
			return nil, done, err
		}
		return t.Control(tenants...), done, nil
	default:
		var sessions session.Store
		if sessions, _, err = a.openExistingStore(f.store); err != nil {
			return nil, done, errors.New("there is no conversation to steer: no gateway has stored plans on this machine, and there are no sessions; name a gateway with --gateway, its file with --plans, or a store with --store")
		}
		c := session.Control(sessions, nil)
		plans := done
		done = func() {
			plans()
			_ = errors.Join(c.Close(), sessions.Close()) // its actions are written already
		}
		s = c
	}
	return s, done, err
}

// whoseConversation says which conversation the tools are about: that of the agent which
// winnow wrap runs, or of the session that runs us, else the newest of this folder.
func (a *app) whoseConversation() control.Whose {
	w := control.Whose{Label: cmp.Or(a.getenv(variableConversation), a.agentSession())}
	if dir, err := os.Getwd(); err == nil {
		w.Folder = dir
	}
	return w
}

// Conversations implements [control.Steering].
func (r *remote) Conversations(ctx context.Context, q control.List) ([]control.Conversation, error) {
	v := url.Values{}
	if q.Words != "" {
		v.Set("q", q.Words)
	}
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	var list struct{ Conversations []control.Conversation }
	err := r.get(ctx, "/winnow/conversations", v, &list)
	return list.Conversations, err
}

// Conversation implements [control.Steering].
func (r *remote) Conversation(ctx context.Context, id string) (*control.Detail, error) {
	var d control.Detail
	return &d, r.get(ctx, "/winnow/conversations/"+url.PathEscape(id), nil, &d)
}

// Locate implements [control.Steering].
func (r *remote) Locate(ctx context.Context, handle string) (*control.Place, error) {
	var p control.Place
	return &p, r.get(ctx, "/winnow/recall/"+url.PathEscape(handle)+"/place", nil, &p)
}

// Compact implements [control.Steering].
func (r *remote) Compact(ctx context.Context, id string, a control.Compact) (*control.Done, error) {
	return r.post(ctx, id, "compact", a.Plan, a)
}

// Pin implements [control.Steering].
func (r *remote) Pin(ctx context.Context, id string, m control.Mark) (*control.Done, error) {
	return r.post(ctx, id, "pin", m.Plan, m)
}

// Unpin implements [control.Steering].
func (r *remote) Unpin(ctx context.Context, id string, m control.Mark) (*control.Done, error) {
	return r.post(ctx, id, "unpin", m.Plan, m)
}

// Note implements [control.Steering].
func (r *remote) Note(ctx context.Context, id string, a control.Write) (*control.Done, error) {
	return r.post(ctx, id, "note", a.Plan, a)
}

// post sends an action on a conversation.
func (r *remote) post(ctx context.Context, id, verb string, base plan.ID, action any) (*control.Done, error) {
	body, err := json.Marshal(action)
	if err != nil {
		return nil, err
	}
	answer, err := r.ask(ctx, http.MethodPost, "/winnow/conversations/"+url.PathEscape(id)+"/"+verb, body)
	if refused, ok := errors.AsType[*refusedError](err); ok && refused.status == http.StatusConflict {
		return nil, &control.ConflictError{Base: base, InForce: refused.plan}
	}
	if err != nil {
		return nil, err
	}
	var done control.Done
	return &done, r.readAnswer(answer, &done)
}

var _ control.Steering = (*remote)(nil)

// refusedError is what a gateway refused.
type refusedError struct {
	status int
	plan   plan.ID // in force, after a conflict
	error
}

// Unwrap returns the reason.
func (e *refusedError) Unwrap() error { return e.error }
