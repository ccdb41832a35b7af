package gateway

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport"
)

// listed is a plan in a list.
type listed struct {
	ID       plan.ID   `json:"id"`
	Messages int       `json:"messages"`
	Used     time.Time `json:"used"`
}

func (g *Gateway) listPlans(w http.ResponseWriter, r *http.Request) {
	all, err := g.transport.Plans(r.Context(), tenantOf(r))
	out := make([]listed, len(all))
	for i, e := range all {
		out[i] = listed{e.ID, e.Len, e.Used.UTC()}
	}
	showOrRefuse(w, map[string]any{"plans": out}, err)
}

func planID(r *http.Request) plan.ID { return plan.ID(r.PathValue("id")) }

// forgetPlan removes the conversation of a plan.
func (g *Gateway) forgetPlan(w http.ResponseWriter, r *http.Request) {
	plans, originals, err := g.transport.Forget(r.Context(), tenantOf(r), planID(r))
	if err == nil {
		g.opts.Log.Info("a conversation was removed", "plans", plans, "originals", originals)
	}
	showOrRefuse(w, map[string]int{"plans_removed": plans, "conversations_removed": originals}, err)
}

// original is a message behind a handle.
type original struct {
	Role  chat.Role `json:"role"`
	Parts []part    `json:"parts"`
}

type part struct {
	Kind string `json:"kind"`
	Text string `json:"text,omitempty"`
	Name string `json:"name,omitempty"`
	Args string `json:"arguments,omitempty"`
	ID   string `json:"id,omitempty"`
}

func (g *Gateway) recallOriginal(w http.ResponseWriter, r *http.Request) {
	o, err := g.transport.Recall(r.Context(), tenantOf(r), planID(r), r.PathValue("handle"))
	content := make([]original, len(o.Messages))
	for i := range o.Messages {
		m := &o.Messages[i]
		content[i] = original{Role: m.Role, Parts: []part{}}
		for k := range m.Parts {
			p := &m.Parts[k]
			content[i].Parts = append(content[i].Parts, part{p.Kind.String(), p.Text, p.Name, p.Args, p.ID})
		}
	}
	showOrRefuse(w, map[string]any{"handle": o.Edit.Handle, "kind": o.Edit.Kind, "from": o.From, "content": content}, err)
}

// showOrRefuse answers with a document, or says why there is nothing to show.
func showOrRefuse(w http.ResponseWriter, doc any, err error) {
	switch {
	case err == nil:
		reply(w, http.StatusOK, doc)
	case errors.Is(err, transport.ErrNoHistory):
		refuse(w, http.StatusGone, "winnow: the conversation of this plan is no longer in memory (the gateway was restarted, or it was long ago), and originals are not stored; send its next request and ask again, or start the gateway with --keep-originals")
	case errors.Is(err, transport.ErrNotFound), errors.Is(err, plan.ErrNoHandle):
		refuse(w, http.StatusNotFound, "winnow: there is no such plan or handle")
	default:
		refuse(w, http.StatusInternalServerError, "winnow: the plans cannot be read")
	}
}

// Prepare writes the summary of a job, see [transport.Transport.Prepare].
func (g *Gateway) Prepare(ctx context.Context, j transport.Job) error {
	return g.transport.Prepare(ctx, j)
}
