package model

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/token"
)

const file = `{"models": {
  "gpt-5":              {"context": 200000, "output": 32000},
  "azure/gpt-5":        {"output": 9000},
  "azure/our-agent":    {"like": "gpt-4o", "prices": {"input": 2, "output": 8, "tiers": [{"over": 1000, "input": 4}]}},
  "bedrock/zeta-1":     {"context": 50000, "family": "llama3", "cache": {"lifetime_seconds": 90, "min_prefix": 7}},
  "ollama/*":           {"context": 32768},
  "ollama/big*":        {"context": 65536},
  "in-house":           {"context": 10, "input": 5, "output": 99}
}}`

func TestOverrides(t *testing.T) {
	r, err := Default().WithOverrides([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	limits := func(name string, want Limits, source Source) Model {
		t.Helper()
		m := r.Lookup(name)
		if m.Limits() != want || m.Source != source {
			t.Errorf("%s: got %+v (%s), want %+v (%s)", name, m.Limits(), m.Source, want, source)
		}
		return m
	}
	if m := limits("gpt-5", Limits{200_000, 0, 32_000}, Override); !reflect.DeepEqual(m.Prices, Default().Lookup("gpt-5").Prices) {
		t.Errorf("prices were lost: %+v", m.Prices)
	}
	limits("openai/GPT-5", Limits{200_000, 0, 32_000}, Override)
	limits("azure/gpt-5", Limits{Default().Lookup("azure/gpt-5").Context, Default().Lookup("azure/gpt-5").Input, 9000}, Override)
	limits("gpt-5-mini", Default().Lookup("gpt-5-mini").Limits(), Exact)
	limits("ollama/zeta", Limits{Context: 32_768}, Override)
	limits("ollama/bigzeta", Limits{Context: 65_536}, Override)
	limits("in-house", Limits{10, 5, 10}, Override)

	m := limits("azure/our-agent", Limits{128_000, 0, 16_384}, Override)
	if m.Family != token.O200K || m.Provider != "azure" || m.Name != "our-agent" || m.Prices.CacheRead != 2 || m.Prices.Tiers[0].CacheRead != 4 || m.Prices.Tiers[0].Output != 8 {
		t.Errorf("like: %+v", m)
	}
	m = limits("amazon-bedrock/ZETA_1", Limits{Context: 50_000}, Override)
	if m.Family != token.Llama3 || m.Cache != (Cache{90 * time.Second, 0, 7}) {
		t.Errorf("family and cache: %+v", m)
	}

	for name, want := range map[string]int{"our-agent": 1, "zeta-1": 1, "in-house": 1} {
		if got := len(r.List(name)); got != want {
			t.Errorf("%s is listed %d times", name, got)
		}
	}
	for _, m := range r.List("openai/gpt-5") {
		if m.Provider == "openai" && m.Name == "gpt-5" && m.Context != 200_000 {
			t.Errorf("the list does not know the override: %+v", m)
		}
	}
	if m := Default().Lookup("gpt-5"); m.Source != Exact {
		t.Error("overrides leaked into the registry they were made from")
	}
	if none, err := r.WithOverrides([]byte(`{}`)); err != nil || none.Lookup("gpt-5").Source != Exact {
		t.Errorf("an empty file: %v", err)
	}
}

func TestOverridesAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		``:                                             "empty",
		`[]`:                                           "",
		`{"model": {}}`:                                `unknown field "model"`,
		`{"models": {"a": {"contxt": 1}}}`:             `models."a": unknown field "contxt"`,
		`{"models": {"a": {"context": "big"}}}`:        `models."a": field "context" cannot be a string`,
		`{"models": {"a": {"context": 1.5}}}`:          `field "context"`,
		`{"models": {"a": {"context": 0}}}`:            `field "context" is 0`,
		`{"models": {"a": {"output": -1}}}`:            `field "output" is -1`,
		`{"models": {"a": {"family": "zeta"}}}`:        `field "family"`,
		`{"models": {"a": {"prices": {"input": -1}}}}`: `field "prices"`,
		`{"models": {"a": {"prices": {"inptu": 1}}}}`:  `unknown field "inptu"`,
		`{"models": {"a": {"prices": {"tiers": [{"over": 5}, {"over": 5}]}}}}`: `field "prices.tiers"`,
		`{"models": {"a": {"cache": {"lifetime_seconds": -1}}}}`:               `field "cache"`,
		`{"models": {"a": {"cache": {"min_prefix": -1}}}}`:                     `field "cache.min_prefix"`,
		`{"models": {"": {"context": 1}}}`:                                     "name is empty",
		`{"models": {}} {}`:                                                    "more after",
	} {
		_, err := Default().WithOverrides([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "model overrides: ") {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}
