package conview

import (
	"context"
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/ladder"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/plan"
)

// View implements [control.Source].
func (v Verbs) View(ctx context.Context, id string, a *control.Compact) (*control.View, error) {
	m, err := v.b.Moment(ctx, id)
	if err != nil {
		return nil, err
	}
	now, err := m.Engine.Check(m.Request, m.State)
	if err != nil {
		return nil, err
	}
	if a == nil {
		return m.showView(m.View, &now, now.Count.Tokens), nil
	}
	if in := m.View.Plan().ID(); a.Plan != in {
		return nil, &control.ConflictError{Base: a.Plan, InForce: in}
	}
	st := m.State
	st.Preview = true
	r, err := Compact(ctx, m.Engine, m.Request, st, *a)
	if err != nil {
		return nil, err
	}
	out := m.showView(r.View, &r.After, m.sharedTokens(r.View, &now))
	for i := range out.Runs {
		out.Runs[i].Text = ""
	}
	return out, nil
}

// sharedTokens returns how many tokens of the prompt another view begins with as well.
func (m *Moment) sharedTokens(v plan.View, s *winnow.Status) int {
	n, same := 0, 0
	for i := range m.View.Len() {
		tokens := m.Engine.Meter().Counter().Message(m.View.At(i))
		if n += tokens; same == i && i < v.Len() && v.At(i).Digest() == m.View.At(i).Digest() {
			same++
			n -= tokens
		}
	}
	return max(0, s.Count.Tokens-int(s.Scale*float64(n)))
}

// showView describes a view that a check has measured. cached is how many of its
// tokens an earlier request had.
func (m *Moment) showView(v plan.View, s *winnow.Status, cached int) *control.View {
	out := &control.View{Plan: v.Plan().ID(), Tokens: s.Count.Tokens, Fixed: s.Limits.Fixed, Available: s.Limits.Available, Files: map[string]int{}, Runs: m.viewRuns(v, s)}
	for _, f := range listFiles(v, m.Kinds).Files {
		out.Files[f.Path] = f.Shown
	}
	out.CompactAt, _ = s.Due()
	whole, _ := plan.Apply(m.Request.History, nil) // what applies no plan cannot fail
	out.Whole = s.Prompt(m.Engine.Meter().Measure(whole).Tokens)
	if prices := m.Engine.Model().Prices; prices.Known() {
		cached = min(cached, out.Tokens)
		out.Next = new(prices.Cost(chat.Usage{CacheRead: cached, CacheWrite: out.Tokens - cached}))
		out.Later = new(prices.Cost(chat.Usage{CacheRead: out.Tokens}))
	}
	return out
}

// viewRuns returns the stretches of a view.
func (m *Moment) viewRuns(v plan.View, s *winnow.Status) []control.Run {
	counter := m.Engine.Meter().Counter()
	out, room := []control.Run{}, maxView
	add := func(band, about string, message int, body string, tokens int) {
		r := control.Run{Band: band, About: about, Message: message, Tokens: tokens, Lines: strings.Count(strings.TrimSuffix(body, "\n"), "\n") + 1}
		r.Text, r.Bytes = clipText(body, min(control.MaxRun, room))
		room -= len(r.Text)
		out = append(out, r)
	}
	if unseen := s.Tokens.Unseen; unseen > 0 {
		add("fixed", "what only the provider sees", -1, "", unseen)
	}
	if s.Tokens.System > 0 {
		add("fixed", "system prompt", -1, partsText(m.Request.System), s.Tokens.System)
	}
	if len(m.Request.Tools) > 0 {
		var names []string
		for i := range m.Request.Tools {
			names = append(names, m.Request.Tools[i].Name)
		}
		add("fixed", text.Plural(len(names), "tool"), -1, strings.Join(names, ", "), s.Tokens.Tools)
	}
	scaled := func(n int) int { return int(s.Scale * float64(n)) }
	said := saidLines(v)
	last := max(0, v.Len()-maxTail)
	for i := range v.Len() {
		msg, raw := v.At(i), v.Origin(i).Message
		for k := range msg.Parts {
			p := &msg.Parts[k]
			if v.Summary(i, k) {
				for _, x := range ladder.Sections(p.Text, said) {
					add(x.Band, x.About, -1, x.Text, scaled(counter.Text(x.Text)))
				}
				continue
			}
			about := string(msg.Role)
			if p.Kind != chat.Text {
				about = text.Brief(fmt.Sprint(strings.ReplaceAll(p.Kind.String(), "_", " "), ": ", About(v, i, k)), maxAbout)
			}
			if n := len(out) - 1; i < last && n >= 0 && out[n].Band == "tail" {
				out[n].About, out[n].Text = fmt.Sprintf("messages up to %d", raw), ""
				out[n].Tokens += scaled(counter.Part(p))
				continue
			}
			add("tail", about, raw, partText(p), scaled(counter.Part(p)))
		}
	}
	return out
}

// Bounds of a view as a document. Of messages before the newest only the size of
// neighbours is told, and of long views not all text.
const (
	maxTail = 400
	maxView = 1 << 20
)

func partsText(parts []chat.Part) string {
	var b strings.Builder
	for k := range parts {
		b.WriteString(partText(&parts[k]) + "\n")
	}
	return b.String()
}

// saidLines reports whether a line stands in what the user or the agent said in the
// messages that a view hides.
func saidLines(v plan.View) func(string) bool {
	var known map[string]bool
	return func(line string) bool {
		if known == nil {
			known = make(map[string]bool)
			for _, m := range v.History().All() {
				for k := range m.Parts {
					if m.Parts[k].Kind != chat.Text {
						continue
					}
					for l := range strings.SplitSeq(m.Parts[k].Text, "\n") {
						if l = strings.TrimSpace(l); strings.HasPrefix(l, "- ") {
							known[l] = true
						}
					}
				}
			}
		}
		return known[strings.TrimSpace(line)]
	}
}
