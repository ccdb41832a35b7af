package replay

import (
	"context"
	"os"
	"reflect"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/internal/ladder"
)

// TestWithout prints what each weight of the ladder is worth: the measures with all
// of them, then with each taken away once. It takes minutes and runs on demand.
func TestWithout(t *testing.T) {
	if os.Getenv("WINNOW_WITHOUT") == "" {
		t.Skip("set WINNOW_WITHOUT=1 to see what each weight is worth")
	}
	d, err := Load(corpus.Dir(t, "sessions"), corpus.Dir(t, "more-sessions"))
	if err != nil {
		t.Fatal(err)
	}
	all := *ladder.InForce()
	defer func() { *ladder.InForce() = all }()
	row := func(name string) {
		policy := func(place Place) ([]FieldPolicy, error) {
			one, err := Shipped(name, winnow.Settings{}, place, 24_000)
			return []FieldPolicy{one}, err
		}
		board, err := Field(context.Background(), d, &FieldOptions{Places: []Place{{Window: 64_000}}, Policies: policy, Edits: true})
		if err != nil {
			t.Fatal(err)
		}
		r := board.Places[0].Rows[0]
		plain, err := (&FieldOptions{}).measurePlain(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%-12s V %.3f, closing messages in part %s, typed %s, arguments without files %.3f", name, r.V, twoDigits(r.Part), twoDigits(r.Typed), plain[0].Ready.Share())
	}
	row("all")
	for i := range reflect.TypeFor[ladder.Weights]().NumField() {
		w := all
		neutral := 0.0
		name := reflect.TypeFor[ladder.Weights]().Field(i).Name
		switch name {
		case "Named", "Called", "Unsure", "Scratch":
			neutral = 1
		case "Age", "Size":
			neutral = 1e12 // nothing beside it counts
		}
		reflect.ValueOf(&w).Elem().Field(i).SetFloat(neutral)
		*ladder.InForce() = w
		row(name)
	}
}
