package replaygen

import (
	"math/rand/v2"
	"strings"
)

// words makes names. Nouns, verbs and adjectives are everybody's; names and
// rare words are the session's own.
type words struct {
	r    *rand.Rand
	used map[string]bool
}

func newWords(r *rand.Rand) *words { return &words{r: r, used: map[string]bool{}} }

var (
	nouns = strings.Fields(`account address batch branch buffer bundle cache channel chunk client cluster column config cursor
		delta depot device digest driver engine entry event field filter folder frame gateway group handler header index invoice
		journal label ledger limit locale lock manifest marker matrix member metric module monitor notice object offset order
		packet parcel partner payload period phase pointer policy pool portal process profile queue quota range record region
		registry report request result retry route ruleset sample schema scope segment session setting shard signal snapshot
		source stage status stream summary symbol tariff template tenant ticket token tracker trigger vendor version volume wallet window worker zone`)
	verbs      = strings.Fields("apply bind check close collect commit copy count decode drain encode fetch flush group hold join load merge move open parse plan poll push read reset route scan send settle sort split start store sync trim validate wait wrap write")
	adjectives = strings.Fields("broken cold current dirty early empty exact final fixed fresh global idle initial inner large late local mixed nested newer older open outer partial pending plain prior quiet rough short shared sparse stable stale strict total unused valid wide")
	starts     = strings.Fields("bar cal dor fen gal hol jar kel lan mor nar pel quin ros sal tar ulm ver wes yar zor brin cran drel flor grun")
	middles    = strings.Fields("a e i o u ai ea io ou ara eni ilo oma uri")
	ends       = strings.Fields("bek dane fel gor hane kint lor mure nath pell rick sund tovan vist wick zell marsh croft")
)

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

func (w *words) noun() string      { return pick(w.r, nouns) }
func (w *words) verb() string      { return pick(w.r, verbs) }
func (w *words) adjective() string { return pick(w.r, adjectives) }

// rareWord returns a plain word that no other session has, or hardly any.
func (w *words) rareWord() string {
	return w.makeOnce(func() string { return pick(w.r, starts) + pick(w.r, middles) + pick(w.r, ends) })
}

func (w *words) ticket() string { return strings.ToUpper(pick(w.r, starts)) }

// ident returns an identifier that the session has not used yet.
func (w *words) ident() string {
	return w.makeOnce(func() string {
		return pick(w.r, verbs) + titleCase(pick(w.r, nouns)) + titleCase(pick(w.r, starts)+pick(w.r, middles))
	})
}

// path returns a file's path that the session has not used yet.
func (w *words) path() string {
	return w.makeOnce(func() string {
		return "internal/" + w.noun() + "/" + w.verb() + "_" + pick(w.r, starts) + pick(w.r, middles) + ".go"
	})
}

func (w *words) makeOnce(make func() string) string {
	for {
		if s := make(); !w.used[s] {
			w.used[s] = true
			return s
		}
	}
}

func titleCase(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
