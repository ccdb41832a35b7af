package winnow_test
import ("testing";"fmt";"github.com/winnow-llm/winnow/chat";"github.com/winnow-llm/winnow")
func TestZZ(t *testing.T){
	c := newCase(5598)
	fmt.Printf("%+v\n", c.String())
	w := mustNew(c.set); l, _ := c.ledger(w)
	r, err := w.Fit(t.Context(), c.req, winnow.State{Pins: c.pins, Ledger: l, Ask: winnow.Ask{BestEffort: c.best}})
	fmt.Println(r.Before.Tokens, r.Before.Count, r.After.Tokens, r.After.Count, r.Before.Over, err, r.Plan, r.Notes, r.Before.Limits)
	for i := range c.req.History.Len() { m:=c.req.History.At(i); fmt.Println(m.Role, len(m.Parts)); for _, p := range m.Parts { fmt.Println(p.Kind, len(p.Text), len(p.Data), p.Media, p.Name) } }
	_ = chat.User
}
func TestZY(t *testing.T){
	w := newWinnow(t, small)
	h, s := bulky(900)
	for i := range 60 {
		h = further(h, i)
		r, err := w.Fit(t.Context(), chat.Request{History: h}, s)
		if err != nil { fmt.Println(i, err); return }
		if r.Changed { fmt.Println(i, r.Before.Tokens.Total, r.After.Tokens.Total, r.NotLasted, r.Plan, r.Notes) }
		s.Plan, s.NotLasted = r.Plan, r.NotLasted
	}
	_ = winnow.State{}
}
