package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// asOf is the day for which prices are taken where a registry lists several
// with the days they start at: the day the measured table was read.
const asOf = "2026-11-15"

// genaiModel is one entry of genai-prices: a rule for names, and prices.
type genaiModel struct {
	id      string
	match   matcher
	context int
	prices  prices
}

// matcher is genai-prices' rule for the names that an entry covers. Exactly
// one field is set.
type matcher struct {
	Equals     string
	StartsWith string `json:"starts_with"`
	EndsWith   string `json:"ends_with"`
	Contains   string
	Regex      string
	Or, And    []matcher
}

func (m matcher) matches(name string) bool {
	switch {
	case m.Equals != "":
		return name == m.Equals
	case m.StartsWith != "":
		return strings.HasPrefix(name, m.StartsWith)
	case m.EndsWith != "":
		return strings.HasSuffix(name, m.EndsWith)
	case m.Contains != "":
		return strings.Contains(name, m.Contains)
	case m.Regex != "":
		re, err := regexp.Compile(m.Regex)
		return err == nil && re.MatchString(name)
	case len(m.Or) > 0:
		return slices.ContainsFunc(m.Or, func(o matcher) bool { return o.matches(name) })
	}
	return len(m.And) > 0 && !slices.ContainsFunc(m.And, func(a matcher) bool { return !a.matches(name) })
}

// stepped is a price that may depend on the size of the prompt.
type stepped struct {
	base  float64
	steps []struct {
		Start int
		Price float64
	}
}

func (s *stepped) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		var f struct {
			Base  float64
			Tiers []struct {
				Start int
				Price float64
			}
		}
		err := json.Unmarshal(b, &f)
		s.base, s.steps = f.Base, f.Tiers
		return err
	}
	return json.Unmarshal(b, &s.base)
}

type genaiPrices struct {
	In    stepped `json:"input_mtok"`
	Out   stepped `json:"output_mtok"`
	Read  stepped `json:"cache_read_mtok"`
	Write stepped `json:"cache_write_mtok"`
}

func (g genaiPrices) toPrices() prices {
	p := prices{rates: rates{in: g.In.base, out: g.Out.base, read: g.Read.base, write: g.Write.base}}
	over := tierSet{}
	each := func(s stepped, set func(*rates, float64)) {
		for _, st := range s.steps {
			set(over.at(st.Start), st.Price)
		}
	}
	each(g.In, func(r *rates, v float64) { r.in = v })
	each(g.Out, func(r *rates, v float64) { r.out = v })
	each(g.Read, func(r *rates, v float64) { r.read = v })
	each(g.Write, func(r *rates, v float64) { r.write = v })
	p.tiers = over.sorted()
	return p
}

func readGenai(s *sources, data []byte) error {
	var f []struct {
		ID     string
		Models []struct {
			ID     string
			Match  matcher
			Window int `json:"context_window"`
			Prices json.RawMessage
		}
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	s.genai = map[string][]genaiModel{}
	for _, p := range f {
		for _, m := range p.Models {
			g, err := pricesInForce(m.Prices)
			if err != nil {
				return err
			}
			provider := canonicalProvider(p.ID)
			s.genai[provider] = append(s.genai[provider], genaiModel{m.ID, m.Match, m.Window, g.toPrices()})
		}
	}
	return nil
}

// pricesInForce picks the prices in force. A list holds prices with the day they
// start at; prices for hours of the day are left aside.
func pricesInForce(raw json.RawMessage) (genaiPrices, error) {
	if raw[0] != '[' {
		var g genaiPrices
		return g, json.Unmarshal(raw, &g)
	}
	var list []struct {
		Constraint *struct {
			StartDate string `json:"start_date"`
		}
		Prices genaiPrices
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return genaiPrices{}, err
	}
	var g genaiPrices
	latest := ""
	for i := range list {
		start := "0"
		if c := list[i].Constraint; c != nil {
			start = c.StartDate
		}
		if start != "" && start >= latest && start <= asOf {
			g, latest = list[i].Prices, start
		}
	}
	return g, nil
}
