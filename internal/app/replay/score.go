package replay

import "github.com/winnow-llm/winnow/evidence"

// binding returns the sentences of a user's text that bind.
func binding(text string) []string { return evidence.BindingSentences(text) }

// Tally is how many of so many survive.
type Tally struct {
	Hit int `json:"hit"`
	Of  int `json:"of"`
}

// Share is the part that survives; 0 of nothing.
func (t Tally) Share() float64 {
	if t.Of == 0 {
		return 0
	}
	return float64(t.Hit) / float64(t.Of)
}

func (t *Tally) put(hit bool) {
	t.Of++
	if hit {
		t.Hit++
	}
}

func (t Tally) plus(u Tally) Tally { return Tally{t.Hit + u.Hit, t.Of + u.Of} }

// Recall is the four figures of a text that stands for a removed region.
type Recall struct{ E, P, W, C Tally }

// Plus adds up two recalls: averages are over all probes.
func (r Recall) Plus(o Recall) Recall {
	return Recall{r.E.plus(o.E), r.P.plus(o.P), r.W.plus(o.W), r.C.plus(o.C)}
}

// Mean is the headline: the mean of the four shares. A class of which nothing is
// demanded says nothing and is left out, as happens in a single session.
func (r Recall) Mean() float64 {
	sum, n := 0.0, 0
	for _, t := range [...]Tally{r.E, r.P, r.W, r.C} {
		if t.Of > 0 {
			sum += t.Share()
			n++
		}
	}
	return sum / float64(max(n, 1))
}

// Loss is something demanded that a text does not have.
type Loss struct {
	Kind  string `json:"kind"` // an entity's kind, pair, word or constraint
	Value string `json:"value"`
}

// Score looks for what is demanded in a text, and returns what is lost. A name
// counts that lost what made it one, as a path that lost its root.
func (d *Demand) Score(text string) (Recall, []Loss) { return d.score(text, false) }

// score is Score, or the same with entities matched exactly.
func (d *Demand) score(text string, exact bool) (Recall, []Loss) {
	var r Recall
	var lost []Loss
	out := newPlaces()
	out.add(text)
	for _, e := range d.Entities {
		hit := out.at[e.Value] != nil || !exact && out.has(text, e.Value)
		r.E.put(hit)
		if !hit {
			lost = append(lost, Loss{e.Kind.String(), e.Value})
		}
	}
	for _, p := range d.Pairs {
		r.P.put(out.near(p[0], p[1]))
	}
	words := map[string]bool{}
	eachWord(text, func(w string) { words[w] = true })
	for _, w := range d.Words {
		hit := words[w]
		r.W.put(hit)
		if !hit {
			lost = append(lost, Loss{"word", w})
		}
	}
	lines := evidence.NewIndex(text)
	for _, c := range d.Constraints {
		hit := lines.HasSentence(c)
		r.C.put(hit)
		if !hit {
			lost = append(lost, Loss{"constraint", c})
		}
	}
	return r, lost
}
