package model

import (
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/model/internal/fold"
	"github.com/winnow-llm/winnow/token"
)

// Registry answers questions about models. It never changes and may be used by
// many goroutines at once; [Registry.WithOverrides] gives a new one.
type Registry struct {
	over overrides
}

var builtIn = &Registry{}

// Default returns the registry that comes with winnow.
func Default() *Registry { return builtIn }

// Lookup returns what is known about a model. The name may carry a provider
// ("openai/gpt-5", "bedrock/us.anthropic.claude-…"), a vendor's path
// ("models/gemini-…", "@cf/meta/…"), a date or a tag (":free"); upper case and
// the kind of separator do not matter. A name that ends in "[1m]" asks for the
// window of a million tokens that some models have on request.
//
// Without a provider, the facts are those of the model's maker, or else those
// that most providers agree on.
//
// Lookup always answers: see [Model.Source] for how much to trust it. A name
// of more than 512 bytes is nobody's and gets the default.
func (r *Registry) Lookup(name string) Model {
	m := r.over.apply(name, lookupBuiltIn(name))
	m.tidyLimits()
	return m
}

// maxName bounds the names that are searched for. Names reach a gateway from
// outside, and the search takes a name apart word by word; no model's name is
// nearly as long.
const maxName = 512

// query is a name taken apart.
type query struct {
	name      string   // without [1m]
	key       string   // the name folded
	providers []string // named by the name, as the registry has them; most telling first
}

func lookupBuiltIn(name string) Model {
	if name = strings.TrimSpace(name); len(name) > maxName {
		return Model{Name: name, Context: defaultContext, Source: Fallback}
	}
	name, million := strings.CutSuffix(name, "[1m]")
	if !million {
		name, million = strings.CutSuffix(name, "[1M]")
	}
	q := query{name: name, key: fold.Name(name)}
	for rest := name; ; {
		head, tail, ok := strings.Cut(rest, "/")
		if !ok {
			break
		}
		// "models" is Google's where a name starts with it, and a folder elsewhere.
		if rest == name || head != "models" {
			q.providers = append(q.providers, providerName(head))
		}
		rest = tail
	}
	if fold.HasDotted(name) {
		q.providers = append(q.providers, "amazon-bedrock")
	}
	m := q.search()
	if n := statedWindow(q.key); n > 0 && n < m.Context && m.Source.Guess() {
		m.Context, m.Input = n, 0 // the name knows better than a guess
	}
	if f := familyOf(splitWords(q.key)); f != token.Unknown {
		m.Family = f
	}
	if million && m.Context < 1_000_000 {
		m.Context, m.Input = 1_000_000, 0
	}
	return m
}

// search tries one way after the other, from knowledge to guess.
func (q *query) search() Model {
	ws := splitWords(q.key)
	inner := ws
	m, ok := q.byKey(q.key, Exact)
	if _, at := makerOf(ws); at > 0 && !ok {
		// A deployment's name may hold the model's: prod-gpt-4o-eu.
		inner = ws[at:]
		m, ok = q.byKey(strings.Join(inner, "-"), vendorPrefix)
	}
	if !ok || q.providerRank(m) < named {
		// The provider may list the model with a date only.
		if d, found := q.byDate(inner); found && !isBareLine(inner) && (!ok || q.providerRank(d) > q.providerRank(m)) {
			m, ok = d, true
		}
	}
	if ok {
		return m
	}
	plain := withoutDates(inner)
	if m, ok := q.byPrefix(plain, false); ok {
		return m
	}
	if m, ok := q.byVersion(plain); ok {
		return m
	}
	if m, ok := q.byPrefix(plain, true); ok {
		return m
	}
	return q.byProvider(ws)
}

// How well a provider fits the query.
const (
	other = iota
	ofMaker
	named
)

// providerRank says whose facts a model's are: those of a provider that the query
// names, of the maker, or of someone else. A query that names nobody means
// the maker.
func (q *query) providerRank(m Model) int {
	if slices.Contains(q.providers, m.Provider) {
		return named
	}
	if mk, _ := makerOf(splitWords(fold.Name(m.Name))); mk != nil && slices.Contains(mk.providers, m.Provider) {
		if len(q.providers) == 0 {
			return named
		}
		return ofMaker
	}
	return other
}

// byKey looks a key up as it is.
func (q *query) byKey(key string, source Source) (Model, bool) {
	found := findEntries(key)
	if len(found) == 0 {
		return Model{}, false
	}
	e, provider := q.chooseLine(found)
	m := e.modelOf(provider)
	m.Source = source
	if source == Exact && !q.spellsName(m) {
		m.Source = vendorPrefix
	}
	return m, true
}

// spellsName reports whether the name is the model's own, apart from upper case
// and separators: nothing stands before it but its provider.
func (q *query) spellsName(m Model) bool {
	name := strings.ToLower(q.name)
	own := strings.ToLower(m.Name)
	if name == own {
		return true
	}
	head, rest, ok := strings.Cut(name, "/")
	if !ok {
		return !fold.HasDotted(name)
	}
	if providerName(head) != m.Provider {
		return false
	}
	return rest == own || !strings.Contains(rest, "/") && !fold.HasDotted(rest)
}

// chooseLine picks one of the lines of a key, and the provider whose facts it
// gives: a provider that the name mentions, else the model's maker, else what
// most providers say.
func (q *query) chooseLine(found []entry) (*entry, string) {
	rest := q.name
	for _, p := range q.providers {
		if _, tail, ok := strings.Cut(rest, "/"); ok {
			rest = tail
		}
		if e := bestLine(found, p, rest); e != nil {
			return e, p
		}
	}
	if mk, _ := makerOf(splitWords(found[0].key)); mk != nil {
		for _, p := range mk.providers {
			if e := bestLine(found, p, rest); e != nil {
				return e, p
			}
		}
	}
	e := &found[0]
	for i := range found {
		if strings.EqualFold(found[i].spelledName(), q.name) {
			e = &found[i]
			break
		}
	}
	first, _, _ := strings.Cut(e.providers, ",")
	return e, first
}

// bestLine returns the provider's line: the one spelled like that, upper case
// aside if need be, else the one with the shortest name, which has no region
// before it.
func bestLine(found []entry, provider, spelling string) *entry {
	var short, fit *entry
	for i := range found {
		e := &found[i]
		if !e.hasProvider(provider) {
			continue
		}
		name := e.spelledName()
		if name == spelling {
			return e
		}
		if fit == nil && strings.EqualFold(name, spelling) {
			fit = e
		}
		if short == nil || len(name) < len(short.spelledName()) {
			short = e
		}
	}
	if fit != nil {
		return fit
	}
	return short
}

// byDate takes dates away from the name's end, or finds the newest dated or
// preview build of a name without one; of several, the first of the provider
// that fits best.
func (q *query) byDate(ws []string) (Model, bool) {
	var keys []string
	for rest, ok := cutDate(ws); ok; rest, ok = cutDate(rest) {
		keys = append(keys, strings.Join(rest, "-"))
	}
	prefix := strings.Join(withoutDates(ws), "-") + "-"
	fixed := len(keys)
	for e := range entriesFrom(prefix) {
		tail, ok := strings.CutPrefix(e.key, prefix)
		if !ok {
			break
		}
		if namesBuild(splitWords(tail)) && (len(keys) == 0 || keys[len(keys)-1] != e.key) {
			keys = append(keys, e.key)
		}
	}
	slices.Reverse(keys[fixed:])
	var got Model
	found := false
	for _, key := range keys {
		if m, ok := q.byKey(key, dateSuffix); ok && (!found || q.providerRank(m) > q.providerRank(got)) {
			got, found = m, true
		}
	}
	return got, found
}

// namesBuild reports whether words only say which build of a model is meant.
func namesBuild(ws []string) bool {
	ws = slices.Clone(ws)
	if ws[0] == "preview" || ws[0] == "exp" {
		ws = ws[1:]
		if len(ws) == 0 {
			return true
		}
	}
	// cutDate leaves a first word standing, so one is put before them.
	return len(withoutDates(append([]string{"x"}, ws...))) == 1
}

// byPrefix finds the longest known name that the name starts with, on a word
// boundary. A cut before a small number would drop a version or half of one
// (gpt-4 is not gpt-4.5), so it is made only when nothing better was found.
func (q *query) byPrefix(ws []string, anywhere bool) (Model, bool) {
	for n := len(ws) - 1; n > 0; n-- {
		if !anywhere && isSmallNumber(ws[n]) {
			continue
		}
		if mk, _ := makerOf(ws[:n]); n == 1 && (mk == nil || versionOf(ws[:1]) == nil) {
			break // a single plain word says too little
		}
		if m, ok := q.byKey(strings.Join(ws[:n], "-"), longestPrefix); ok {
			return m, true
		}
	}
	return Model{}, false
}

// byVersion finds the latest version before the named one among the maker's own
// models: of the same variant, or else of the plain line.
func (q *query) byVersion(ws []string) (Model, bool) {
	mk, at := makerOf(ws)
	if mk == nil || at > 0 {
		return Model{}, false
	}
	want, ok := parseVersion(ws)
	if !ok {
		return Model{}, false
	}
	var key string
	var got parsed
	for e := range entriesFrom(want.head) {
		if !strings.HasPrefix(e.key, want.head) {
			break
		}
		if !slices.ContainsFunc(mk.providers, e.hasProvider) {
			continue
		}
		p, ok := parseVersion(splitWords(e.key))
		if !ok || p.head != want.head || slices.Compare(p.version, want.version) > 0 {
			continue
		}
		if len(p.rest) > len(want.rest) || !slices.Equal(p.rest, want.rest[:len(p.rest)]) {
			continue
		}
		if key == "" || len(p.rest) > len(got.rest) ||
			len(p.rest) == len(got.rest) && slices.Compare(p.version, got.version) > 0 {
			key, got = e.key, p
		}
	}
	if key == "" {
		return Model{}, false
	}
	source := earlierVersion
	if strings.HasPrefix(strings.Join(ws, "-"), key) {
		source = longestPrefix
	}
	return q.byKey(key, source)
}

// byProvider answers for models of which only the provider is known, or nothing.
func (q *query) byProvider(ws []string) Model {
	m := Model{Name: q.name, Context: defaultContext, Source: Fallback, Cache: cacheOf(q.key, Cache{})}
	m.Family = familyOf(ws)
	if head, rest, ok := strings.Cut(q.name, "/"); ok && q.key != "" {
		m.Provider, m.Name = providerName(head), rest
	}
	gemma := slices.ContainsFunc(ws, func(w string) bool { return strings.HasPrefix(w, "gemma") })
	try := q.providers
	if mk, _ := makerOf(ws); mk != nil {
		try = append(slices.Clip(try), mk.providers[0])
	}
	for _, p := range try {
		if gemma && strings.HasPrefix(p, "google") {
			continue // Google's window is Gemini's
		}
		if n, ok := providerDefaults[p]; ok {
			m.Provider, m.Context, m.Source = p, n, ProviderDefault
			break
		}
	}
	if m.Provider == "anthropic" && m.Family == token.Unknown {
		m.Family = token.Claude5
	}
	return m
}
