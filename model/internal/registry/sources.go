package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// id names a model of a provider.
type id struct{ provider, model string }

// limits of one source; zero is unknown.
type limits struct{ context, input, output int }

// rates are dollars per million tokens, by the constants below; zero is unknown.
type rates [5]float64

const (
	in = iota
	out
	read
	write
	long
)

type tier struct {
	over int
	rates
}

type prices struct {
	rates
	tiers []tier
}

// add sets one rate for prompts larger than over, 0 for all.
func (p *prices) add(over, rate int, dollars float64) {
	if over == 0 {
		p.rates[rate] = dollars
		return
	}
	at, there := slices.BinarySearchFunc(p.tiers, over, func(t tier, over int) int { return t.over - over })
	if !there {
		p.tiers = slices.Insert(p.tiers, at, tier{over: over})
	}
	p.tiers[at].rates[rate] = dollars
}

// sources is what the public registries say, by provider and model.
type sources struct {
	limits    map[id]map[string]limits // by source: md, cl, ll, cw
	cline     map[id]prices
	modelsDev map[id]prices
	litellm   map[id]prices
	minPrefix map[id]int
	genai     map[string][]genaiModel // by provider
	table     map[string]tableRow     // the measured table, by model
}

func readSources(dir string) (*sources, error) {
	s := &sources{}
	var errs []error
	for _, f := range []struct {
		name string
		read func(*sources, []byte) error
	}{
		{"merged_by_source.json", readMerged},
		{"cline_catalog_*.json", readCline},
		{"models_dev_*.json", readModelsDev},
		{"litellm_model_prices_*.json", readLiteLLM},
		{"genai_prices_*.json", readGenai},
		{"prices.json", readTable},
	} {
		names, err := filepath.Glob(filepath.Join(dir, f.name))
		if err != nil || len(names) == 0 {
			errs = append(errs, fmt.Errorf("no %s", f.name))
			continue
		}
		data, err := os.ReadFile(names[len(names)-1]) // the newest: names end in a date
		if err == nil {
			err = f.read(s, data)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", filepath.Base(names[len(names)-1]), err))
		}
	}
	return s, errors.Join(errs...)
}

// sameProvider maps the names that registries use for a provider to one.
var sameProvider = map[string]string{
	"openai-native": "openai", "gemini": "google", "vertex": "google-vertex", "vertexai": "google-vertex",
	"google-vertex-anthropic": "google-vertex", "bedrock": "amazon-bedrock", "together": "togetherai",
	"vercel-ai-gateway": "vercel", "fireworks": "fireworks-ai", "moonshot": "moonshotai", "wafer.ai": "wafer",
	"copilot": "github-copilot", "opencode-zen": "opencode", "zhipu": "zhipuai", "zhipu-coding": "zhipuai-coding-plan",
	"minimax-china": "minimax-cn", "ionet": "io-net", "qiniucloud": "qiniu-ai", "kimi-coding": "kimi-for-coding",
	"sapaicore": "sap-ai-core",
	// litellm's names
	"bedrock_converse": "amazon-bedrock", "fireworks_ai": "fireworks-ai", "together_ai": "togetherai",
	"cohere_chat": "cohere", "x-ai": "xai",
}

func canonicalProvider(provider string) string {
	if p, ok := sameProvider[provider]; ok {
		return p
	}
	return provider
}

func readMerged(s *sources, data []byte) error {
	var f struct {
		Models map[string]map[string]map[string][3]*float64
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	num := func(p *float64) int {
		if p == nil || *p < 0 {
			return 0
		}
		return int(*p)
	}
	s.limits = map[id]map[string]limits{}
	for _, provider := range sortedKeys(f.Models) {
		for model, by := range f.Models[provider] {
			k := id{canonicalProvider(provider), model}
			if s.limits[k] == nil {
				s.limits[k] = map[string]limits{}
			}
			for src, v := range by {
				// Of two names of one provider the canonical one is heard first.
				if _, taken := s.limits[k][src]; taken && provider != k.provider {
					continue
				}
				s.limits[k][src] = limits{num(v[0]), num(v[1]), num(v[2])}
			}
		}
	}
	return nil
}

func readCline(s *sources, data []byte) error {
	var f map[string]map[string]struct {
		Pricing struct{ Input, Output, CacheRead, CacheWrite float64 }
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	s.cline = map[id]prices{}
	for provider, models := range f {
		for model, m := range models {
			p := m.Pricing
			s.cline[id{canonicalProvider(provider), model}] = prices{rates: rates{p.Input, p.Output, p.CacheRead, p.CacheWrite}}
		}
	}
	return nil
}

func readModelsDev(s *sources, data []byte) error {
	type cost struct {
		Input, Output float64
		CacheRead     float64 `json:"cache_read"`
		CacheWrite    float64 `json:"cache_write"`
	}
	var f map[string]map[string]struct {
		Cost struct {
			cost
			Tiers []struct {
				cost
				Tier struct{ Size int }
			}
		}
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	s.modelsDev = map[id]prices{}
	conv := func(c cost) rates { return rates{c.Input, c.Output, c.CacheRead, c.CacheWrite} }
	for _, provider := range sortedKeys(f) {
		for model, m := range f[provider] {
			p := prices{rates: conv(m.Cost.cost)}
			for _, t := range m.Cost.Tiers {
				p.tiers = append(p.tiers, tier{t.Tier.Size, conv(t.cost)})
			}
			k := id{canonicalProvider(provider), model}
			if _, taken := s.modelsDev[k]; !taken || provider == k.provider {
				s.modelsDev[k] = p
			}
		}
	}
	return nil
}

// litellmRates are litellm's fields for prices per token, in the order of rates, and
// litellmTier is what stands behind one for prices above a number of tokens.
var (
	litellmRates = []string{
		"input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost", "cache_creation_input_token_cost",
		"cache_creation_input_token_cost_above_1hr",
	}
	litellmTier = regexp.MustCompile(`^(.+)_above_(\d+)k_tokens$`)
)

func readLiteLLM(s *sources, data []byte) error {
	var f map[string]map[string]any
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	s.litellm, s.minPrefix = map[id]prices{}, map[id]int{}
	for _, name := range sortedKeys(f) {
		m := f[name]
		own, _ := m["litellm_provider"].(string)
		model := strings.TrimPrefix(name, own+"/")
		provider := own
		if strings.HasPrefix(own, "vertex_ai") {
			provider, model = "google-vertex", strings.TrimPrefix(name, "vertex_ai/")
		}
		k := id{canonicalProvider(provider), strings.TrimPrefix(model, "bedrock/")}
		var p prices
		for field, v := range m {
			size := 0
			if t := litellmTier.FindStringSubmatch(field); t != nil {
				field = t[1]
				size, _ = strconv.Atoi(t[2])
			}
			if n, ok := v.(float64); ok && slices.Contains(litellmRates, field) {
				p.add(size*1000, slices.Index(litellmRates, field), perMillion(n))
			}
		}
		s.litellm[k] = p
		if n, ok := m["prompt_cache_min_tokens"].(float64); ok && n > 0 {
			s.minPrefix[k] = int(n)
		}
	}
	return nil
}

// perMillion turns a price per token into one per million tokens, without the
// noise that the multiplication adds.
func perMillion(v float64) float64 { return math.Round(v*1e12) / 1e6 }

type tableRow struct {
	tableRates
	Ctx  int
	Tier *struct {
		tableRates
		Over int
	}
}

type tableRates struct{ In, W, W1h, R, Out float64 }

func (t tableRates) toRates() rates { return rates{t.In, t.Out, t.R, t.W, t.W1h} }

func readTable(s *sources, data []byte) error {
	var f struct{ Models map[string]tableRow }
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	s.table = f.Models
	return nil
}

func (t tableRow) toPrices() prices {
	p := prices{rates: t.toRates()}
	if t.Tier != nil {
		p.tiers = []tier{{t.Tier.Over, t.Tier.toRates()}}
	}
	return p
}
