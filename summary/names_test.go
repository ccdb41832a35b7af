package summary

import (
	"fmt"
	"testing"
)

func TestNames(t *testing.T) {
	table := newNames(0)
	for round := range 2 {
		for i := range 5000 {
			v := fmt.Sprintf("name%d", i)
			id, ok := table.find(v, nameHash(v))
			if ok != (round == 1) || ok && id != int32(i) {
				t.Fatalf("round %d: %s is %d, %v", round, v, id, ok)
			}
			if !ok && table.add(v, nameHash(v)) != int32(i) {
				t.Fatalf("%s got another number than %d", v, i)
			}
		}
	}
	// Texts with the same hash are told apart.
	if a, b := table.add("one", 7), table.add("two", 7); a == b {
		t.Error("two texts have one number")
	} else if id, ok := table.find("two", 7); !ok || id != b {
		t.Errorf("two is %d, %v, want %d", id, ok, b)
	}
}
