package winnow

import (
	"context"
	"slices"
	"sync"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// Adapter puts winnow between an agent framework and its model, in the framework's own
// messages, which are of type M. It is safe for concurrent use.
//
// A framework hands the whole conversation to its model with every call, and has a place
// where that call can be wrapped. Call [Adapter.Fit] there and pass on what it returns:
//
//	a := winnow.NewAdapter(w, toChat, fromChat) // once for all conversations of a model
//
//	view, answered, err := a.Fit(ctx, chat.Request{Tools: tools}, messages)
//	if err != nil {
//		return nil, err // a *winnow.CannotFitError names what cannot shrink
//	}
//	answer, err := next(ctx, view)
//	if err == nil {
//		answered(answer.Message, usage) // counts get better with every answer
//	}
//
// The framework's history stays whole: only what is sent is smaller. Messages that
// winnow leaves alone are returned as the values that came in, with all that package chat
// has no word for. Only those that it shortened or made are built by fromChat.
//
// The folder examples/frameworks has adapters for eino, ADK, Genkit, LangChainGo and
// tRPC-Agent-Go to copy.
type Adapter[M any] struct {
	w        *Winnow
	toChat   func(M) chat.Message
	fromChat func(chat.Message) M

	mu    sync.Mutex
	known []*adapted // the one used last at the end
}

// mostAdapted is how many conversations an adapter remembers. One that was forgotten is
// compacted anew when it comes back.
const mostAdapted = 256

// adapted is a conversation as it was last seen.
type adapted struct {
	track *Track
	len   int
	chain chat.Hash
}

// NewAdapter returns an adapter. toChat says what a message of the framework means; what it
// cannot express may be a part of kind [chat.Opaque], so that it is counted. fromChat
// makes a message of the framework: of the user with a text in place of older messages,
// or of any role with shorter parts than toChat was given.
func NewAdapter[M any](w *Winnow, toChat func(M) chat.Message, fromChat func(chat.Message) M) *Adapter[M] {
	return &Adapter[M]{w: w, toChat: toChat, fromChat: fromChat}
}

// Fit returns the messages that the model should see. They are the whole conversation,
// oldest first; req says what else is sent with it, and its history is not used. System
// messages at the start stay where they are. The conversation is found by its messages.
//
// Call answered with the model's answer and what the provider reported for it, if that is
// known; usage that says nothing is passed over.
//
// The errors are those of [Winnow.Fit].
func (a *Adapter[M]) Fit(ctx context.Context, req chat.Request, messages []M) (view []M, answered func(answer M, usage chat.Usage), err error) {
	msgs := make([]chat.Message, len(messages))
	for i, m := range messages {
		msgs[i] = a.toChat(m)
	}
	lead := 0
	for lead < len(msgs) && msgs[lead].Role == chat.System {
		req.System = append(slices.Clip(req.System), msgs[lead].Parts...)
		lead++
	}
	req.History = chat.NewHistory(msgs[lead:]...)
	k := a.findConversation(req.History)
	r, err := k.track.Fit(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	view = slices.Clone(messages[:lead])
	for i, m := range r.View.All() {
		if at := r.View.Raw(i); at >= 0 {
			view = append(view, messages[lead+at])
		} else {
			view = append(view, a.fromChat(*m))
		}
	}
	return view, func(answer M, usage chat.Usage) { k.track.Answered(a.toChat(answer), usage) }, nil
}

// findConversation returns the conversation that a history continues. A branch has a track of its
// own, which starts with the plan that covers most of it.
func (a *Adapter[M]) findConversation(h chat.History) *adapted {
	a.mu.Lock()
	defer a.mu.Unlock()
	best := -1
	var base *plan.Plan
	for i, k := range a.known {
		if k.len > 0 && h.StartsWith(k.len, k.chain) && (best < 0 || k.len >= a.known[best].len) {
			best = i
		}
		if p := k.track.Plan(); p.Covers(h) && (base == nil || p.Len >= base.Len) {
			base = p
		}
	}
	var k *adapted
	if best >= 0 {
		k = a.known[best]
		a.known = slices.Delete(a.known, best, best+1)
	} else {
		k = &adapted{track: a.w.Track()}
		k.track.Use(base, 0)
	}
	if len(a.known) == mostAdapted {
		a.known = slices.Delete(a.known, 0, 1)
	}
	k.len, k.chain = h.Len(), h.Chain(h.Len())
	a.known = append(a.known, k)
	return k
}
