package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/model/internal/fold"
)

func TestCommittedFileIsCurrent(t *testing.T) {
	dir := corpus.Dir(t, "models")
	want, err := os.ReadFile(filepath.Join("..", "..", "registry.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // maps are walked in another order each time
		src, err := readSources(dir)
		if err != nil {
			t.Fatal(err)
		}
		facts := mergeSources(src)
		var b bytes.Buffer
		writeRegistry(&b, facts)
		if !bytes.Equal(b.Bytes(), want) {
			t.Fatal("model/registry.txt is not what the generator writes: run go generate ./model")
		}
	}
}

func TestMissingInputIsNamed(t *testing.T) {
	err := run(t.TempDir(), "-")
	if err == nil || !strings.Contains(err.Error(), "no merged_by_source.json") || !strings.Contains(err.Error(), "WINNOW_CORPUS") {
		t.Fatalf("got %v", err)
	}
}

func TestMergeLimits(t *testing.T) {
	for _, c := range []struct {
		name string
		by   map[string]limits
		want limits
	}{
		{"newest first", map[string]limits{"cl": {200, 0, 20}, "md": {100, 0, 10}}, limits{200, 0, 20}},
		{"alone and larger than two", map[string]limits{"cl": {1000, 0, 64}, "md": {200, 0, 64}, "ll": {200, 0, 64}, "cw": {200, 0, 9}}, limits{200, 0, 64}},
		{"alone and smaller than two", map[string]limits{"cl": {100, 0, 64}, "md": {200, 0, 64}, "ll": {200, 0, 64}}, limits{100, 0, 64}},
		{"litellm's number is the input limit", map[string]limits{"md": {400, 0, 128}, "ll": {272, 0, 128}}, limits{400, 272, 128}},
		{"input limit equal to the window is none", map[string]limits{"cl": {400, 400, 128}}, limits{400, 0, 128}},
		{"catwalk's output is no limit", map[string]limits{"cw": {400, 0, 40}}, limits{400, 0, 0}},
		{"output larger than the window", map[string]limits{"md": {100, 0, 300}}, limits{100, 0, 100}},
		{"nothing", nil, limits{}},
	} {
		if got := mergeLimits(c.by); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestPricesOfTwoDatesAreNotMixed(t *testing.T) {
	k := id{"anthropic", "claude-x"}
	s := &sources{
		cline:     map[id]prices{k: {rates: rates{in: 2, out: 10}}},
		modelsDev: map[id]prices{k: {rates: rates{in: 3, out: 15, read: 0.3, write: 3.75}, tiers: []tier{{over: 200_000, rates: rates{in: 6, out: 30}}}}},
		litellm:   map[id]prices{k: {rates: rates{in: 2, out: 10, read: 0.2, write: 2.5, long: 9}}},
	}
	got := s.mergePrices(k)
	if want := (rates{in: 2, out: 10, read: 0.2, write: 2.5}); got.rates != want || len(got.tiers) != 0 {
		t.Fatalf("got %+v, want %+v without tiers: the long write is more than four times the input", got, want)
	}
	s.table = map[string]tableRow{"claude-x": {tableRates: tableRates{In: 1, Out: 5, R: 0.1, W: 1.25, W1h: 2}}}
	if got := s.mergePrices(k); got.rates != (rates{1, 5, 0.1, 1.25, 2}) {
		t.Fatalf("the measured table does not speak first: %+v", got)
	}
}

func TestEncode(t *testing.T) {
	f := fact{
		limits:    limits{context: 1_000_000, output: 128_000},
		prices:    prices{rates: rates{in: 2.5, out: 10, write: 3.125}, tiers: []tier{{272_000, rates{in: 5, out: 15}}}},
		minPrefix: 1024,
	}
	if got, want := encodeFact(f), "1M//128k\t2.5/10//3.125\t272k:5/15\t1024"; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	for name, want := range map[string]string{
		"claude-opus-4-5":           "",
		"anthropic/claude-opus-4-5": "anthropic/=",
		"openai/claude-opus-4.5":    "openai/~",
		"Claude-Opus-4.5":           "Claude-Opus-4.5",
	} {
		if got := shortenName(name, fold.Name(name)); got != want {
			t.Errorf("spelling of %s: got %q, want %q", name, got, want)
		}
	}
}

func TestGenaiMatch(t *testing.T) {
	m := matcher{Or: []matcher{{StartsWith: "gpt-5"}, {And: []matcher{{Contains: "mini"}, {EndsWith: "-x"}}}, {Regex: "^o[0-9]$"}, {Equals: "same"}}}
	for name, want := range map[string]bool{"gpt-5.1": true, "a-mini-x": true, "a-mini": false, "o3": true, "o3-mini": false, "same": true, "": false} {
		if m.matches(name) != want {
			t.Errorf("%q: got %v", name, !want)
		}
	}
	got, err := pricesInForce([]byte(`[{"prices":{"input_mtok":1}},{"constraint":{"start_date":"2026-01-01"},"prices":{"input_mtok":{"base":2,"tiers":[{"start":200000,"price":4}]}}},{"constraint":{"start_date":"2099-01-01"},"prices":{"input_mtok":3}}]`))
	if err != nil {
		t.Fatal(err)
	}
	if p := got; p.rates[in] != 2 || len(p.tiers) != 1 || p.tiers[0].rates[in] != 4 {
		t.Fatalf("prices in force: %+v", p)
	}
}
