package main

import (
	"bytes"
	"encoding/json"
	"errors"
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

// genaiRates are the prices of genai-prices that count, in the order of rates.
var genaiRates = []string{"input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok"}

// genaiPrices are prices by their names. One that depends on the size of the prompt is
// an object.
type genaiPrices map[string]json.RawMessage

func (g genaiPrices) toPrices() (p prices, err error) {
	for rate, name := range genaiRates {
		var one struct {
			Base  float64
			Tiers []struct {
				Start int
				Price float64
			}
		}
		raw := g[name]
		if bytes.HasPrefix(raw, []byte{'{'}) {
			err = errors.Join(err, json.Unmarshal(raw, &one))
		} else if raw != nil {
			err = errors.Join(err, json.Unmarshal(raw, &one.Base))
		}
		p.add(0, rate, one.Base)
		for _, t := range one.Tiers {
			p.add(t.Start, rate, t.Price)
		}
	}
	return p, err
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
			s.genai[provider] = append(s.genai[provider], genaiModel{m.ID, m.Match, m.Window, g})
		}
	}
	return nil
}

// pricesInForce picks the prices in force. A list holds prices with the day they
// start at; prices for hours of the day are left aside.
func pricesInForce(raw json.RawMessage) (prices, error) {
	var g genaiPrices
	if raw[0] != '[' {
		if err := json.Unmarshal(raw, &g); err != nil {
			return prices{}, err
		}
		return g.toPrices()
	}
	var list []struct {
		Constraint *struct {
			StartDate string `json:"start_date"`
		}
		Prices genaiPrices
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return prices{}, err
	}
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
	return g.toPrices()
}
