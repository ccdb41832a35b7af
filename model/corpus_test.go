package model

import (
	"cmp"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/model/internal/fold"
)

func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	data, err := os.ReadFile(corpus.Dir(t, "models", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

// Each model of the public registries is found, with a window and an output
// limit that one of them states; registries that name one provider differently
// count together. The rest are Claude models for which the generator trusts
// the maker more. Run with -v for the figures.
func TestCoverage(t *testing.T) {
	var f struct {
		Models map[string]map[string]map[string][3]*float64
	}
	readJSON(t, "merged_by_source.json", &f)
	type id struct{ provider, name string }
	windows, limits := map[id][]int{}, map[id][]int{}
	for provider, models := range f.Models {
		for name, by := range models {
			k := id{providerName(provider), name}
			for source, v := range by {
				if v[0] != nil && *v[0] > 0 {
					windows[k] = append(windows[k], int(*v[0]))
				}
				if source != "cw" && v[2] != nil && *v[2] > 0 { // catwalk's figure does not mean a limit
					limits[k] = append(limits[k], int(*v[2]))
				}
			}
		}
	}
	total, exact, window, output, outputs, several, disagree := 0, 0, 0, 0, 0, 0, 0
	for provider, models := range f.Models {
		for name := range models {
			k := id{providerName(provider), name}
			ws, ls := windows[k], limits[k]
			if len(ws) == 0 {
				continue
			}
			total++
			m := Default().Lookup(provider + "/" + name)
			if m.Source == Exact {
				exact++
			}
			if slices.Contains(ws, m.Context) || slices.Contains(ws, m.Input) {
				window++
			} else {
				t.Logf("%s/%s: %d, the sources say %v", provider, name, m.Context, ws)
			}
			if len(ls) > 0 {
				outputs++
				if slices.Contains(ls, m.Output) || m.Output == m.Context && slices.Max(ls) >= m.Context {
					output++
				}
			}
			if len(ws) > 1 {
				several++
				if slices.Min(ws) != slices.Max(ws) {
					disagree++
				}
			}
		}
	}
	share := func(n, of int) float64 { return 100 * float64(n) / float64(of) }
	t.Logf("%d models: %.2f %% found exactly, window as a source states it %.2f %%, output limit %.2f %% of %d",
		total, share(exact, total), share(window, total), share(output, outputs), outputs)
	t.Logf("%d models with several sources, which disagree about %d windows", several, disagree)
	if share(exact, total) < 99.9 || share(window, total) < 99.8 || share(output, outputs) < 99.8 {
		t.Error("the registry does not cover its sources")
	}
}

// The table that dollars are measured with is in the registry as it is.
func TestMeasuredPrices(t *testing.T) {
	type row struct {
		In, W, W1h, R, Out float64
		Ctx                int
	}
	var f struct {
		Models map[string]struct {
			row
			Tier *struct {
				row
				Over int
			}
		}
	}
	readJSON(t, "prices.json", &f)
	for name, want := range f.Models {
		m := Default().Lookup(name)
		p := m.Prices
		if m.Source != Exact || m.Name != name {
			t.Errorf("%s: found as %s (%s)", name, m.Name, m.Source)
		}
		if p.Input != want.In || p.Output != want.Out || p.CacheRead != want.R || p.CacheWrite != cmp.Or(want.W, want.In) || want.W1h > 0 && p.CacheWriteLong != want.W1h {
			t.Errorf("%s: got %+v, want %+v", name, p, want.row)
		}
		if (want.Tier == nil) != (len(p.Tiers) == 0) {
			t.Errorf("%s: got tiers %+v", name, p.Tiers)
		} else if w := want.Tier; w != nil {
			g := p.Tiers[0]
			if len(p.Tiers) != 1 || g.Over != w.Over || g.Input != w.In || g.Output != w.Out || g.CacheRead != w.R || g.CacheWrite != cmp.Or(w.W, w.In) {
				t.Errorf("%s: got tier %+v, want %+v", name, g, *w)
			}
		}
		// The table rounds windows; 1.0 and 1.05 million are one there.
		if low, high := 95*want.Ctx/100, 106*want.Ctx/100; m.Context < low || m.Context > high {
			t.Errorf("%s: window %d, the table has %d", name, m.Context, want.Ctx)
		}
	}
	t.Logf("%d models of the measured table", len(f.Models))
}

// Dressing a name up does not change what is known about the model.
func TestDressedNames(t *testing.T) {
	var f map[string]map[string][3]*float64
	readJSON(t, "slim_first_party.json", &f)
	tried, kept := 0, 0
	for _, provider := range []string{"openai", "anthropic", "google", "deepseek", "xai", "moonshotai", "zai"} {
		for name := range f[provider] {
			want := Default().Lookup(provider + "/" + name)
			mk, _ := makerOf(splitWords(fold.Name(name)))
			if mk == nil || !slices.Contains(mk.providers, provider) {
				continue
			}
			for _, dressed := range []string{
				name, "litellm_proxy/" + name, "some-proxy/" + provider + "/" + name, "models/" + name,
				provider + "/" + name + "-20991231", provider + "/" + name + "@20991231", name + "-2099-12-31",
				provider + "/" + name + ":zeta", "prod-" + name, "team/" + provider + "/" + name + "-zeta",
			} {
				tried++
				if m := Default().Lookup(dressed); m.Context == want.Context {
					kept++
				} else if testing.Verbose() {
					t.Logf("%s: %d (%s/%s, %s), plain %d", dressed, m.Context, m.Provider, m.Name, m.Source, want.Context)
				}
			}
		}
	}
	t.Logf("%d of %d dressed names keep their window", kept, tried)
	if 1000*kept < 985*tried {
		t.Errorf("only %d of %d dressed names keep their window", kept, tried)
	}
}
