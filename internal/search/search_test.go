package search_test

import (
	"testing"

	"github.com/winnow-llm/winnow/internal/search"
)

// Rare words and names decide, a text need not have all words, of equal texts the last
// comes first, and the line is where most of the words stand.
func TestRank(t *testing.T) {
	texts := []string{
		"the client waits and waits",
		"package client\n\nfunc Backoff() {} // of the client\n",
		"the client of retry.go\nand nothing else",
		"the client of retry.go\nand nothing else",
		"the client is here",
	}
	words := search.Words("(src/retry.go), the backoff of the client.")
	found := search.Rank(words, texts, 10)
	if len(found) < 3 || found[0].Text != 3 || found[1].Text != 2 || found[2].Text != 1 || found[2].Line != 2 || found[0].Words != 3 {
		t.Errorf("%q: %+v", words, found)
	}
	if got := search.Rank(search.Words("zzz"), texts, 10); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	if got := search.Rank(words, texts, 1); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}
