package main

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow/model/internal/fold"
)

// fact is what the registry says about one model of one provider.
type fact struct {
	id
	limits
	prices
	minPrefix int
}

// documented are windows that their makers document and that the registries
// round.
var documented = map[id]int{
	{"google", "gemini-1.5-pro"}:   2_097_152,
	{"google", "gemini-1.5-flash"}: 1_048_576,
}

// mergeSources gives one fact for each model of each provider. The rules, in order:
//
// Window. models.dev's line speaks first, in its newer form (the cline
// catalogue), then in its older one; then catwalk; then litellm, whose number
// is the input limit. Where that answer stands alone against two others that
// agree on a smaller window, the smaller one is taken: a window that needs a
// special header is sometimes listed as if everyone had it, and too large a
// window ends in a refused request.
//
// A window of a Claude model that litellm or catwalk alone names and that is
// larger than the maker's own is the maker's, for the same reason. Models with
// open weights may well have a larger window at another host.
//
// Input limit. The first of the same line that is smaller than the window;
// else litellm's number where it and the output limit add up to the window.
//
// Output limit. Cline catalogue, models.dev, litellm. Catwalk's number is the
// output that a client asks for by default, not a limit, and is not used.
//
// A dated name that litellm alone knows takes the window of the undated one
// when litellm's number is that one's input limit.
//
// Prices. The measured table first, for the maker's own models; then the
// cline catalogue, models.dev, litellm, genai-prices: the first that names an
// input or output price. Cache prices and tiers that it lacks are filled from
// the others, but only from those that agree on input and output prices, so
// that prices of two dates are never mixed. genai-prices is kept by hand from
// the makers' pages: where it agrees, its tiers stand, also when it has none.
// Zero beside a price means unknown, not free; so does a cache price that no
// provider asks: a read dearer than plain input, a write cheaper than it, a
// long write cheaper than a short one or more than four times plain input.
//
// Models that only the measured table knows take the limits they lack from
// the latest earlier version with the same window.
func mergeSources(s *sources) []fact {
	var facts []fact
	for k, by := range s.limits {
		f := fact{id: k, prices: s.mergePrices(k), minPrefix: s.minPrefix[k]}
		f.limits = mergeLimits(by)
		if f.context == 0 {
			continue
		}
		if len(by) == 1 && by["ll"].context > 0 {
			if base := dated.ReplaceAllString(k.model, ""); base != k.model {
				if b := mergeLimits(s.limits[id{k.provider, base}]); b.input == f.context {
					f.context, f.input = b.context, b.input
				}
			}
		}
		facts = append(facts, f)
	}
	facts = addTable(s, addGenai(s, facts))
	for i := range facts {
		if w := documented[facts[i].id]; w > 0 {
			facts[i].context = w
		}
	}
	lowerWeakWindows(s, facts)
	slices.SortFunc(facts, func(a, b fact) int {
		return cmp.Or(strings.Compare(a.provider, b.provider), strings.Compare(a.model, b.model))
	})
	return facts
}

var dated = regexp.MustCompile(`[-@](20\d{6}|20\d\d-\d\d-\d\d)$`)

func mergeLimits(by map[string]limits) limits {
	var l limits
	for _, src := range []string{"cl", "md", "cw", "ll"} {
		if l.context = by[src].context; l.context > 0 {
			break
		}
	}
	votes := map[int]int{}
	for _, v := range by {
		votes[v.context]++
	}
	if votes[l.context] == 1 {
		for _, n := range sortedKeys(votes) {
			if n > 0 && n < l.context && votes[n] >= 2 {
				l.context = n
			}
		}
	}
	for _, src := range []string{"cl", "md", "ll"} {
		l.output = cmp.Or(l.output, by[src].output)
		if n := by[src].input; l.input == 0 && n < l.context {
			l.input = n
		}
	}
	if n := by["ll"].context; l.input == 0 && n > 0 && n < l.context && n+l.output == l.context {
		l.input = n
	}
	l.output = min(l.output, l.context)
	return l
}

// mergePrices merges what the sources charge for a model.
func (s *sources) mergePrices(k id) prices {
	var hand prices
	genai := s.genai[k.provider]
	if i := slices.IndexFunc(genai, func(g genaiModel) bool { return g.match.matches(strings.ToLower(k.model)) }); i >= 0 {
		hand = genai[i].prices
	}
	var table prices
	if row, ok := s.table[k.model]; ok && makerOf(k.model) == k.provider {
		table = row.toPrices()
	}
	cline, modelsDev, litellm := s.cline[k].sane(), s.modelsDev[k].sane(), s.litellm[k].sane()
	hand = hand.sane()
	order := []prices{table, cline, modelsDev, litellm, hand}
	first := slices.IndexFunc(order, func(o prices) bool { return o.rates[in] > 0 || o.rates[out] > 0 })
	if first < 0 {
		return prices{}
	}
	p := order[first]
	agrees := func(o prices) bool { return o.rates[in] == p.rates[in] && o.rates[out] == p.rates[out] }
	for _, o := range []prices{hand, cline, modelsDev, litellm} {
		for rate := read; rate <= long && agrees(o); rate++ {
			p.rates[rate] = cmp.Or(p.rates[rate], o.rates[rate])
		}
	}
	if table.rates[in] > 0 {
		return p // its tiers are complete
	}
	if by := []prices{hand, modelsDev, litellm}; slices.ContainsFunc(by, agrees) {
		p.tiers = by[slices.IndexFunc(by, agrees)].tiers
	}
	return p
}

// sane leaves out cache prices that cannot be right.
func (p prices) sane() prices {
	p.rates = p.rates.sane()
	p.tiers = slices.Clone(p.tiers)
	for i := range p.tiers {
		p.tiers[i].rates = p.tiers[i].rates.sane()
	}
	return p
}

func (r rates) sane() rates {
	if r[read] > r[in] {
		r[read] = 0
	}
	if r[write] < r[in] {
		r[write] = 0
	}
	if r[long] < r[write] || r[long] < r[in] || r[long] > 4*r[in] {
		r[long] = 0
	}
	return r
}

// makerOf returns the provider whose own model it is.
func makerOf(model string) string {
	for prefix, provider := range map[string]string{
		"claude-": "anthropic", "gpt-": "openai", "gemini-": "google",
		"deepseek-": "deepseek", "grok-": "xai", "kimi-": "moonshotai",
	} {
		if strings.HasPrefix(model, prefix) {
			return provider
		}
	}
	return ""
}

// addGenai adds the models, mostly older ones, whose window only genai-prices
// knows, for providers that other registries know too. genai-prices lists other
// makers' models that Vertex sells under google: addGenai leaves those out.
func addGenai(s *sources, facts []fact) []fact {
	known, providers := map[id]bool{}, map[string]bool{}
	for _, f := range facts {
		known[f.id], providers[f.provider] = true, true
	}
	var added []fact
	for _, provider := range sortedKeys(s.genai) {
		for _, g := range s.genai[provider] {
			k := id{provider, g.id}
			if mk := makerOf(g.id); mk != "" && mk != provider {
				continue
			}
			if g.context == 0 || !providers[provider] || known[k] {
				continue
			}
			known[k] = true
			f := fact{id: k, limits: limits{context: g.context}, prices: s.mergePrices(k)}
			for _, o := range facts { // a dated build has the limits it lacks
				if o.provider == provider && o.context == f.context && withoutDate(o.model) == withoutDate(g.id) {
					f.input, f.output = max(f.input, o.input), max(f.output, o.output)
				}
			}
			added = append(added, f)
		}
	}
	return append(facts, added...)
}

func withoutDate(model string) string {
	return strings.TrimSuffix(dated.ReplaceAllString(model, ""), "-latest")
}

var revision = regexp.MustCompile(`-v\d-\d$`)

// lowerWeakWindows lowers windows of Claude models that one weak source names to the
// maker's own.
func lowerWeakWindows(s *sources, facts []fact) {
	own := map[string]int{}
	for _, f := range facts {
		if f.provider == "anthropic" {
			own[fold.Name(f.model)] = f.context
		}
	}
	for i := range facts {
		f := &facts[i]
		by := s.limits[f.id]
		if len(by) != 1 || by["ll"].context+by["cw"].context == 0 {
			continue
		}
		if n := own[revision.ReplaceAllString(fold.Name(f.model), "")]; n > 0 && n < f.context {
			f.context, f.output = n, min(f.output, n)
		}
	}
}

// addTable adds the models that only the measured table knows.
func addTable(s *sources, facts []fact) []fact {
	known := map[id]*fact{}
	for i := range facts {
		known[facts[i].id] = &facts[i]
	}
	var added []fact
	for _, model := range slices.SortedFunc(maps.Keys(s.table), compareVersions) {
		k := id{makerOf(model), model}
		if k.provider == "" || known[k] != nil {
			continue
		}
		f := fact{id: k, limits: limits{context: s.table[model].Ctx}, prices: s.mergePrices(k)}
		// A variant without a predecessor takes the limits of its plain line.
		for l := lineName(model); l != "" && f.output == 0; l = l[:max(0, strings.LastIndexByte(l, '-'))] {
			if e := findEarlier(k, l, known); e != nil && e.context == f.context {
				f.limits, f.minPrefix = e.limits, e.minPrefix
			}
		}
		added = append(added, f)
		known[k] = &added[len(added)-1]
	}
	return append(facts, added...)
}

// compareVersions orders names by the numbers in them.
func compareVersions(a, b string) int {
	return cmp.Or(slices.Compare(versionNumbers(a), versionNumbers(b)), strings.Compare(a, b))
}

var number = regexp.MustCompile(`\d+`)

// versionNumbers returns the numbers in a name, and lineName the name without them.
func versionNumbers(model string) []int {
	var v []int
	for _, n := range number.FindAllString(model, -1) {
		i, _ := strconv.Atoi(n)
		v = append(v, i)
	}
	return v
}

func lineName(model string) string {
	words := strings.Split(fold.Name(model), "-")
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return strings.Trim(w, "0123456789") == "" }), "-")
}

// findEarlier finds the latest version of a line before a model.
func findEarlier(k id, l string, known map[id]*fact) *fact {
	var best *fact
	for o, f := range known {
		if o.provider != k.provider || lineName(o.model) != l || len(versionNumbers(o.model)) > 2 {
			continue
		}
		if slices.Compare(versionNumbers(o.model), versionNumbers(k.model)) >= 0 {
			continue
		}
		if best == nil || compareVersions(o.model, best.model) > 0 {
			best = f
		}
	}
	return best
}
