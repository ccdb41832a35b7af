package replay

// Tally counts what survives: Hit of Of.
type Tally struct {
	Hit int `json:"hit"`
	Of  int `json:"of"`
}

// Share returns the part that survives; 0 of nothing.
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
