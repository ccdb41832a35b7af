package summary

import (
	"math"
	"strings"

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
		age := float64(s.pos-int(e.lastPos)) / 3.6
		w := 1 + math.Log1p(float64(e.count)) + math.Log1p(float64(e.messages))
		w /= 1 + 0.35*math.Log1p(age/500)
		w *= 1 + 0.5*math.Log1p(float64(e.agent)) + 0.4*math.Log1p(float64(e.near))
		switch e.kind {
		case evidence.PathEntity:
			w *= 1.6
		case evidence.IDEntity:
			w *= 1.2
		}
		if e.bare*2 >= e.count {
			w *= 0.25
		}
		e.weight = w
		e.cost = textCost(e.text) + 1
	}
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

// textCost estimates the tokens of a short text, in units that a counter's
// verdict on real text scales.
func textCost(t string) float64 {
	letters, digits, other := 0, 0, 0
	humps := 0
	prev := byte(' ')
	for i := 0; i < len(t); i++ {
		c := t[i]
		switch {
		case 'a' <= c && c <= 'z':
			letters++
		case 'A' <= c && c <= 'Z':
			letters++
			if prev >= 'a' {
				humps++
			}
		case '0' <= c && c <= '9':
			digits++
		case c == ' ':
		case c >= 0x80:
			letters++
		default:
			other++
		}
		prev = c
	}
	words := 1 + humps + other + strings.Count(t, " ")
	return max(float64(letters)/5.5+float64(words)*0.45+float64(digits)*0.5, 1)
}
