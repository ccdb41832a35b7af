package summary

import (
	"math"

	"github.com/winnow-llm/winnow/evidence"
)

// weigh says how likely each entity is needed later. What was mentioned often,
// in several messages, lately, and by the agent itself counts more; so does
// what stands beside things that the tail is about.
func (s *scan) weigh() {
	for i := range s.lines {
		l := &s.lines[i]
		near := false
		for _, id := range s.occ[l.occ:l.end] {
			if s.entities[id].tail {
				near = true
				break
			}
		}
		h := l.home
		if h < 0 || s.homes[h].path == "" {
			for _, id := range s.occ[l.occ:l.end] {
				if e := &s.entities[id]; e.kind == evidence.PathEntity {
					if k, ok := s.pathHome(e.text); ok {
						h = k
						break
					}
				}
			}
		}
		for _, id := range s.occ[l.occ:l.end] {
			e := &s.entities[id]
			if near {
				e.near++
			}
			if e.home < 0 {
				e.home = h
			}
		}
	}
	for i := range s.entities {
		e := &s.entities[i]
		if e.tail {
			continue
		}
		e.weight = s.likelihood(e)
		e.cost = textCost(e.text)
		if e.ticked() {
			e.cost++
		}
	}
}

// The chance that the agent writes an entity again in its next steps, as a
// log-linear model: what each property adds to the logarithm. It was fitted on
// recorded sessions; only the proportions matter.
var (
	kindFactor = [...]float64{
		evidence.PathEntity: 0.45, evidence.IdentEntity: 0.35, evidence.IDEntity: -0.85, evidence.NumberEntity: -1.4,
		evidence.FlagEntity: 0.4, evidence.ErrorEntity: -1.35, evidence.TickEntity: 0.25, evidence.URLEntity: -0.85,
	}
	sourceFactor     = [...]float64{fromUser: 1, fromAssistant: 0.5, fromCall: 0.6, fromBody: 0.85, fromResult: -1.15}
	wordSourceFactor = [...]float64{fromUser: 0.15, fromAssistant: 0.45, fromCall: 0.45, fromBody: 1, fromResult: -0.3}
)

func (s *scan) likelihood(e *entity) float64 {
	age := math.Log1p(float64(s.pos-int(e.lastPos)) / 1800)
	near := math.Log1p(float64(e.near))
	z, by := 0.0, &sourceFactor
	if e.kind == wordEntity {
		by = &wordSourceFactor
		z = -1.2 - 0.2*math.Log1p(float64(e.messages)) - 0.27*age + 0.45*near + 0.018*float64(len(e.text))
		if tier, ok := s.common[e.text]; ok {
			z += 0.86 * math.Log(rarity[tier])
		}
		if e.sources&failedBit != 0 {
			z -= 0.4
		}
	} else {
		z = 0.41*math.Log1p(float64(e.count)) + 0.31*math.Log1p(float64(e.messages)) - 0.31*age + 0.07*near
		if int(e.kind) < len(kindFactor) {
			z += kindFactor[e.kind]
		}
		if e.sources&failedBit != 0 {
			z--
		}
		if e.home >= 0 && s.homes[e.home].changed() {
			z -= 0.5
		}
	}
	for k, f := range by {
		if e.sources&(1<<k) != 0 {
			z += f
		}
	}
	// Rounding keeps the choice the same on machines that round differently.
	return math.Round(math.Exp(z)*(1<<20)) / (1 << 20)
}

// changed reports whether a file was written to.
func (x *home) changed() bool {
	return x.path != "" && x.ops[evidence.Edit]+x.ops[evidence.Write]+x.ops[evidence.Delete] > 0
}

// pathHome finds the home of a path in its normal form of two segments.
func (s *scan) pathHome(short string) (int32, bool) {
	if h, ok := s.homeOf[short]; ok {
		return h, true
	}
	if s.byShort == nil {
		s.byShort = map[string]int32{}
		for i := range s.homes {
			if p := s.homes[i].path; p != "" {
				evidence.Entities(p, func(k evidence.EntityKind, v string) {
					if k == evidence.PathEntity {
						s.byShort[v] = int32(i)
					}
				})
			}
		}
	}
	h, ok := s.byShort[short]
	return h, ok
}

// textCost estimates the tokens of a short text. What matters is the proportion
// between texts: a counter's verdict on the whole corrects the scale. The
// numbers are a fit to what names and paths count in the o200k vocabulary.
func textCost(t string) float64 {
	lower, upper, humps, digits, numbers, marks, blanks := 0, 0, 0, 0, 0, 0, 1
	prev := byte(' ')
	for i := 0; i < len(t); i++ {
		c := t[i]
		switch {
		case 'a' <= c && c <= 'z' || c >= 0x80:
			lower++
		case 'A' <= c && c <= 'Z':
			upper++
			if 'a' <= prev && prev <= 'z' {
				humps++
			}
		case '0' <= c && c <= '9':
			digits++
			if prev < '0' || prev > '9' {
				numbers++
			}
		case c == ' ':
			blanks++
		default:
			marks++
		}
		prev = c
	}
	return 0.2*float64(blanks) + 0.14*float64(lower) + 0.22*float64(upper+humps) + 0.3*float64(digits) + 1.35*float64(numbers) + 0.73*float64(marks)
}
