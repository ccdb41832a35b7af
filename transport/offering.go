package transport

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
	"github.com/winnow-llm/winnow/wire"
)

// A caller that has neither a shell nor MCP cannot redeem a handle. With
// [Options.OfferTools] the transport declares tools of its own beside the caller's
// and answers calls of them itself, so that the caller never sees one:
//
//	caller:    question          ->
//	           question + tools  -> model calls recall
//	           question, call, result + tools -> model answers
//	        <- answer
//
// The calls and their results are remembered, and stand in the caller's next
// requests in the place where they were made: then the model still knows what it
// recalled, signed thinking stands where it was written, and the provider's cache
// holds. All rounds are requests of one conversation that grows, so they are counted,
// compacted and recorded as all others.
//
// Where the model calls tools of ours and of the caller's in one answer, the caller gets
// its own calls; the results of ours are put beside its results when these come.
//
// What is remembered is lost at a restart. Then the caller's messages are sent as they
// come, which is a valid conversation without the recalls.

// maxRounds is how often the model is answered before the caller is. What it still
// asks for then is left out.
const maxRounds = 8

// offering is a request that is sent with tools of ours.
type offering struct {
	t      *Transport
	req    *http.Request
	end    Endpoint
	body   *wire.Body // as it came
	tenant Tenant
	tools  []recall.Tool
	defs   []chat.ToolDef

	past   []wire.Insertion // earlier calls
	rounds []chat.Message   // the messages since the request came, two of each round
	output int              // tokens that the model wrote in them
	last   []byte           // the body of the last round, before it was compacted
	plan   plan.ID          // under which it was sent
	ended  bool             // the answer has no call that is left to the caller

	signature string // of a call of ours, for the caller's next
}

// offerTools prepares a request for tools of ours. It is nil where there are none to offer:
// the caller has such a tool, wants several answers, or keeps its history elsewhere.
func (t *Transport) offerTools(req *http.Request, end Endpoint, raw []byte) *offering {
	if !t.opts.OfferTools || t.opts.Observe || end.Compacting || end.Stream && req.URL.Query().Get("alt") != "sse" {
		return nil
	}
	body, err := wire.Parse(end.Dialect, raw)
	if err != nil {
		return nil
	}
	var doc struct {
		N                int    `json:"n"`
		Previous         string `json:"previous_response_id"`
		Conversation     any    `json:"conversation"`
		GenerationConfig struct{ CandidateCount int }
		Tools            []map[string]any
	}
	_ = json.Unmarshal(raw, &doc) // what has another type is not what it is looked for
	if doc.N > 1 || doc.Previous != "" || doc.Conversation != nil || doc.GenerationConfig.CandidateCount > 1 {
		return nil
	}
	if end.Dialect == wire.Gemini && slices.ContainsFunc(doc.Tools, func(x map[string]any) bool { return x["functionDeclarations"] == nil }) {
		return nil // it takes its own tools or functions
	}
	o := &offering{t: t, req: req, end: end, body: body, tenant: t.opts.Tenant(req)}
	o.tools = append(recall.Tools(o), recall.NoteTool(o.writeNote))
	for _, tool := range o.tools {
		if slices.ContainsFunc(body.Request().Tools, func(d chat.ToolDef) bool {
			return d.Name == tool.Def.Name || strings.HasSuffix(d.Name, "_"+tool.Def.Name)
		}) {
			return nil
		}
		if end.Dialect == wire.Gemini { // its schemas are a subset
			tool.Def.Schema = strings.Replace(tool.Def.Schema, `,"additionalProperties":false`, "", 1)
		}
		o.defs = append(o.defs, tool.Def)
	}
	o.past = t.offered.restore(keyOf(o.tenant, end.Dialect, body.Request().History), body.Request().History)
	return o
}

// writeNote notes something in the conversation that the model has before it.
func (o *offering) writeNote(ctx context.Context, replaces, text string) (string, error) {
	body, err := wire.Parse(o.end.Dialect, o.last)
	if err != nil {
		return "", err
	}
	x := o.t.memory.findContinued(room{o.tenant, o.end.Dialect}, body.Request().History)
	s, steers := o.t.Control(o.tenant).(control.Steering)
	if x == nil || !steers {
		return "", fmt.Errorf("%w: nothing is remembered of this conversation", control.ErrUnknown)
	}
	d, err := s.Conversation(ctx, x.conv)
	if err != nil {
		return "", err
	}
	done, err := s.Note(ctx, x.conv, control.Write{Base: control.Base{Plan: d.Plan}, Replaces: replaces, Text: text})
	if err != nil {
		return "", err
	}
	return done.Say, nil
}

// Recall implements [recall.Source].
func (o *offering) Recall(ctx context.Context, handle string, r recall.Range) (recall.Page, error) {
	return o.t.Recaller(o.tenant).Recall(ctx, handle, r)
}

// Search implements [recall.Source], in the conversation that the model has before it.
func (o *offering) Search(ctx context.Context, q recall.Query) (recall.Results, error) {
	if q.All || o.plan == "" {
		return o.t.Recaller(o.tenant).Search(ctx, q)
	}
	k, err := o.t.opts.Store.ByID(ctx, o.tenant, o.plan)
	if err != nil {
		return recall.Results{}, err
	}
	p, h, err := o.t.historyOf(ctx, k)
	if err != nil {
		return recall.Results{}, err
	}
	return recall.Limited(recall.Hidden(h, p, q.Words, ""), "", q), nil
}

// roundTrip sends the request, and again until the model asks for nothing of ours.
func (o *offering) roundTrip() (*http.Response, error) {
	resp, err := o.sendRound()
	if err != nil || o.end.Counting || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	if isEventStream(resp) {
		resp.Header.Del("Content-Length")
		resp.ContentLength = -1
		s := &splice{o: o}
		s.beginRound(resp.Body)
		resp.Body = s
		return resp, nil
	}
	return o.answerWhole(resp)
}

// sendRound sends the caller's request with all that was said since.
func (o *offering) sendRound() (*http.Response, error) {
	n := o.body.Request().History.Len()
	all := o.past
	if len(o.rounds) > 0 {
		all = append(all[:len(all):len(all)], wire.Insertion{From: n, To: n, Messages: o.rounds})
	}
	raw, err := o.body.Insert(all, o.defs)
	if err != nil { // the caller's own is always valid
		raw, o.past = o.body.Raw(), nil
	}
	o.last, o.signature = raw, ""
	resp, err := o.t.sendFitted(o.req, o.end, raw)
	if err == nil {
		o.plan = plan.ID(resp.Header.Get(HeaderPlan))
	}
	return resp, err
}

// isOurs reports whether a name is that of a tool of ours.
func (o *offering) isOurs(name string) bool {
	return slices.ContainsFunc(o.tools, func(t recall.Tool) bool { return t.Def.Name == name })
}

// splitCalls returns what an answer calls of ours, and its parts without that.
func (o *offering) splitCalls(m *chat.Message) (calls, rest []chat.Part, others bool) {
	for _, p := range m.Parts {
		if p.Kind == chat.ToolCall && o.isOurs(p.Name) {
			calls = append(calls, p)
			continue
		}
		others = others || p.Kind == chat.ToolCall
		rest = append(rest, p)
	}
	return calls, rest, others
}

// answerCalls answers calls.
func (o *offering) answerCalls(calls []chat.Part) (results []chat.Part) {
	for _, c := range calls {
		i := slices.IndexFunc(o.tools, func(t recall.Tool) bool { return t.Def.Name == c.Name })
		text, failed := o.tools[i].Call(o.req.Context(), c.Args)
		results = append(results, chat.Part{Kind: chat.ToolResult, ID: c.ID, Name: c.Name, Text: text, Failed: failed})
		if !failed {
			o.t.tally(func(s *Stats) { s.Redeemed++ })
		}
	}
	return results
}

// nextRound answers the calls of an answer that has no others, and asks the model again. It is
// nil where the answer is the caller's.
func (o *offering) nextRound(a *wire.Answer) (*http.Response, error) {
	calls, _, others := o.splitCalls(&a.Message)
	if len(calls) == 0 || others || a.Failure != nil || len(o.rounds) >= 2*maxRounds {
		return nil, nil //nolint:nilnil,nilerr // there is nothing to ask
	}
	o.rounds = append(o.rounds, a.Message, chat.Message{Role: chat.Tool, Parts: o.answerCalls(calls)})
	o.output += a.Usage.Output
	return o.sendRound()
}

// finishAnswer remembers what the caller does not see of the answer that it gets. Shown is
// what it sees. It reports whether the answer has calls to leave out.
func (o *offering) finishAnswer(a *wire.Answer, shown []chat.Part) (hides bool) {
	calls, rest, others := o.splitCalls(&a.Message)
	if a.Failure != nil || len(calls) == 0 && len(o.rounds) == 0 {
		return false
	}
	o.ended = len(calls) > 0 && !others
	last := a.Message
	var results []chat.Part
	if others {
		results = o.answerCalls(calls)
	} else {
		last.Parts = rest
	}
	h := o.body.Request().History
	x := &exchange{sign: signParts(append(shown, rest...)), messages: append(o.rounds, last), results: results}
	o.t.offered.keep(keyOf(o.tenant, o.end.Dialect, h), h.Chain(h.Len()), x)
	return len(calls) > 0
}

// answerWhole sees to an answer that comes in one piece.
func (o *offering) answerWhole(resp *http.Response) (*http.Response, error) {
	for {
		raw, err := peekBody(resp, maxWhole)
		if err != nil || len(raw) > maxWhole {
			return resp, nil //nolint:nilerr // the caller gets the error with the bytes before it
		}
		a, err := wire.ParseAnswer(o.end.Dialect, raw)
		if err != nil {
			return resp, nil //nolint:nilerr // it is between the provider and the caller
		}
		again, err := o.nextRound(a)
		if again == nil && err == nil {
			hides := o.finishAnswer(a, nil)
			if doc, ok := readDocument(raw); ok && (hides || o.output > 0) {
				o.finishDocument(doc, hides)
				raw = writeDocument(doc)
				resp.Body = both{bytes.NewReader(raw), resp.Body}
				resp.ContentLength = int64(len(raw))
				resp.Header.Del("Content-Length")
			}
			return resp, nil
		}
		_, _ = io.Copy(io.Discard, resp.Body) // it is read, and its end is heard of
		_ = resp.Body.Close()
		if err != nil || again.StatusCode != http.StatusOK {
			return again, err
		}
		resp = again
	}
}

// exchange is what a caller does not know of an answer that it got.
type exchange struct {
	key      planstore.Key
	at       chat.Hash // the chain of the caller's messages before
	sign     [32]byte  // of what the caller got
	messages []chat.Message
	results  []chat.Part
	size     int
}

// signParts returns a hash by which an answer is known when it comes back: its
// words and calls, which callers return, without spacing, which some change.
func signParts(parts []chat.Part) [32]byte {
	h := sha256.New()
	for _, p := range parts {
		switch p.Kind {
		case chat.Text:
			_, _ = io.WriteString(h, strings.Join(strings.Fields(p.Text), "")) // a hash never fails
		case chat.ToolCall:
			_, _ = io.WriteString(h, "\x00"+p.Name+"\x00")
		default:
		}
	}
	return [32]byte(h.Sum(nil))
}
