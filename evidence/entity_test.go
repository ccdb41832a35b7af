package evidence

import (
	"encoding/json"
	"os"
	"sort"
	"testing"

	"github.com/winnow-llm/winnow/internal/corpus"
)

func found(line string) []string {
	var out []string
	Entities(line, func(k EntityKind, v string) { out = append(out, k.String()+" "+v) })
	sort.Strings(out)
	return out
}

// The thirty lines of the guide. Every difference is printed; recall must stay high.
func TestEntitiesGuide(t *testing.T) {
	raw, err := os.ReadFile(corpus.Dir(t, "evaluation-entities.json"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []struct {
		Line     string
		Entities [][2]string
	}
	if err := json.Unmarshal(raw, &lines); err != nil {
		t.Fatal(err)
	}
	hit, want, extra := 0, 0, 0
	for _, l := range lines {
		got := map[string]bool{}
		for _, g := range found(l.Line) {
			got[g] = true
		}
		for _, e := range l.Entities {
			want++
			k := e[0] + " " + e[1]
			if got[k] {
				hit++
				delete(got, k)
				continue
			}
			t.Logf("missing  %-40s in %q", k, l.Line)
		}
		for k := range got {
			extra++
			t.Logf("extra    %-40s in %q", k, l.Line)
		}
	}
	t.Logf("%d of %d found, %d more", hit, want, extra)
}
