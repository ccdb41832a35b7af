package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/model/internal/fold"
	"github.com/winnow-llm/winnow/token"
)

// overrides is what a user's file says, by name.
type overrides struct {
	full   map[string]override // by the whole name, provider included
	folded map[string]override // by model, of any provider
	starts []start             // names that end in *, longest first
	sorted []string            // names as they were written, without patterns
}

type start struct {
	prefix string
	override
}

// override is one model in the file.
type override struct {
	Like    string  `json:"like"`
	Context *int    `json:"context"`
	Input   *int    `json:"input"`
	Output  *int    `json:"output"`
	Family  string  `json:"family"`
	Prices  *Prices `json:"prices"`
	Cache   *struct {
		Lifetime     *float64 `json:"lifetime_seconds"`
		LongLifetime *float64 `json:"long_lifetime_seconds"`
		MinPrefix    *int     `json:"min_prefix"`
	} `json:"cache"`
}

// WithOverrides returns a registry in which a user's file speaks first. The
// file is JSON:
//
//	{"models": {
//	  "gpt-5":             {"context": 200000, "output": 32000},
//	  "azure/our-agent":   {"like": "gpt-4o", "prices": {"input": 2.2, "output": 8.8}},
//	  "ollama/*":          {"context": 32768}
//	}}
//
// A name with a provider is meant for that provider alone, a name without one
// for all; a name that ends in * for all that start like that. Of several that
// fit, the one with a provider wins, then the exact one, then the longest.
//
// Facts that an entry leaves out come from the registry, or from the model
// that "like" names. An entry that gives a context and no input clears the
// registry's input limit, since that belongs to another window. Prices are
// replaced whole. The other fields: input, family ("o200k", "claude5", …),
// cache {lifetime_seconds, long_lifetime_seconds, min_prefix}.
//
// A field that is unknown, or a number that cannot be, is refused with its
// name, so that a misspelt limit does not pass for one. Overrides of the
// receiver are replaced, not merged.
func (r *Registry) WithOverrides(data []byte) (*Registry, error) {
	var file struct {
		Models map[string]json.RawMessage `json:"models"`
	}
	if err := decodeSingle(data, &file); err != nil {
		return nil, fmt.Errorf("model overrides: %w", err)
	}
	o := overrides{full: map[string]override{}, folded: map[string]override{}}
	for _, name := range slices.Sorted(maps.Keys(file.Models)) {
		var v override
		if err := decodeSingle(file.Models[name], &v); err != nil {
			return nil, fmt.Errorf("model overrides: models.%q: %w", name, err)
		}
		if err := v.check(); err != nil {
			return nil, fmt.Errorf("model overrides: models.%q: %w", name, err)
		}
		prefix, pattern := strings.CutSuffix(name, "*")
		switch {
		case !pattern && fold.Name(name) == "":
			return nil, fmt.Errorf("model overrides: models.%q: the name is empty; write a model's name, or * for all models", name)
		case pattern:
			o.starts = append(o.starts, start{normalName(prefix), v})
		case strings.Contains(name, "/"):
			o.full[normalName(name)] = v
		default:
			o.folded[fold.Name(name)] = v
		}
		if !pattern {
			o.sorted = append(o.sorted, name)
		}
	}
	slices.SortStableFunc(o.starts, func(a, b start) int { return len(b.prefix) - len(a.prefix) })
	return &Registry{over: o}, nil
}

// decodeSingle reads one JSON value and nothing after it.
func decodeSingle(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return fmt.Errorf("field %q cannot be a %s", wrong.Field, wrong.Value)
	case errors.Is(err, io.EOF):
		return errors.New(`the file is empty; write {"models": {}} for no overrides`)
	case err != nil:
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after the closing brace; the file holds one JSON object")
	}
	return nil
}

func (v *override) check() error {
	for _, f := range []struct {
		field string
		n     *int
		least int
	}{{"context", v.Context, 1}, {"input", v.Input, 0}, {"output", v.Output, 0}} {
		if f.n != nil && *f.n < f.least {
			return fmt.Errorf("field %q is %d; it must be at least %d", f.field, *f.n, f.least)
		}
	}
	if _, err := token.ParseFamily(v.Family); err != nil {
		return fmt.Errorf("field %q: %w", "family", err)
	}
	if p := v.Prices; p != nil {
		all := []float64{p.Input, p.Output, p.CacheRead, p.CacheWrite, p.CacheWriteLong}
		over := 0
		for _, t := range p.Tiers {
			if t.Over <= over {
				return fmt.Errorf("field %q: over is %d; tiers are sorted by it and it is positive", "prices.tiers", t.Over)
			}
			over = t.Over
			all = append(all, t.Input, t.Output, t.CacheRead, t.CacheWrite, t.CacheWriteLong)
		}
		if slices.Min(all) < 0 {
			return fmt.Errorf("field %q: a price is negative", "prices")
		}
	}
	if c := v.Cache; c != nil {
		const year = 365 * 24 * 3600
		for _, s := range []*float64{c.Lifetime, c.LongLifetime} {
			if s != nil && (*s < 0 || *s > year) {
				return fmt.Errorf("field %q: a lifetime of %g seconds; it must be between 0 and a year", "cache", *s)
			}
		}
		if c.MinPrefix != nil && *c.MinPrefix < 0 {
			return fmt.Errorf("field %q is negative", "cache.min_prefix")
		}
	}
	return nil
}

// normalName spells a name with its provider in one way.
func normalName(name string) string {
	head, rest, ok := strings.Cut(strings.ToLower(strings.TrimSpace(name)), "/")
	if !ok {
		return flattenName(head)
	}
	return providerName(head) + "/" + flattenName(rest)
}

// apply answers for a name: what the file says, over what is known of the model.
func (o *overrides) apply(name string, m Model) Model {
	v, ok := o.find(name)
	if !ok {
		return m
	}
	if v.Like != "" {
		like := lookupBuiltIn(v.Like)
		like.Provider, like.Name = m.Provider, strings.TrimSpace(name)
		if head, rest, ok := strings.Cut(like.Name, "/"); ok {
			like.Provider, like.Name = providerName(head), rest
		}
		m = like
	}
	m.Source = Override
	if v.Context != nil {
		m.Context, m.Input = *v.Context, 0
	}
	setGiven(&m.Input, v.Input)
	setGiven(&m.Output, v.Output)
	if v.Family != "" {
		m.Family, _ = token.ParseFamily(v.Family)
	}
	if p := v.Prices; p != nil {
		m.Prices = *p
		m.Prices.Tiers = slices.Clone(p.Tiers)
		m.Prices.fillUnknown()
	}
	if c := v.Cache; c != nil {
		for to, given := range map[*time.Duration]*float64{&m.Cache.Lifetime: c.Lifetime, &m.Cache.LongLifetime: c.LongLifetime} {
			if given != nil {
				*to = time.Duration(*given * float64(time.Second))
			}
		}
		setGiven(&m.Cache.MinPrefix, c.MinPrefix)
	}
	return m
}

func setGiven(to, given *int) {
	if given != nil {
		*to = *given
	}
}

func (o *overrides) find(name string) (override, bool) {
	if len(name) > maxName {
		return override{}, false
	}
	full := normalName(name)
	if v, ok := o.full[full]; ok {
		return v, true
	}
	if v, ok := o.folded[fold.Name(name)]; ok {
		return v, true
	}
	_, model, _ := strings.Cut(full, "/")
	for _, s := range o.starts {
		if strings.HasPrefix(full, s.prefix) || model != "" && strings.HasPrefix(model, s.prefix) {
			return s.override, true
		}
	}
	return override{}, false
}
