package stage_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/stage"
)

func TestLimitOutput(t *testing.T) {
	big := lines("head", 2000) + "panic: runtime error: index out of range [3]\n" + lines("tail", 2000)
	for _, c := range []struct {
		name   string
		output string
		limit  stage.OutputLimit
		cut    bool
	}{
		{"small", "ok\n", stage.OutputLimit{}, false},
		{"default bytes", strings.Repeat("x", 51201), stage.OutputLimit{}, true},
		{"default bytes, exactly", strings.Repeat("x", 51200), stage.OutputLimit{}, false},
		{"default lines", strings.Repeat("x\n", 2001), stage.OutputLimit{}, true},
		{"default lines, exactly", strings.TrimSuffix(strings.Repeat("x\n", 2000), "\n"), stage.OutputLimit{}, false},
		{"own bytes", lines("a", 100), stage.OutputLimit{Bytes: 1000}, true},
		{"own lines", lines("a", 100), stage.OutputLimit{Lines: 50}, true},
		{"large", big, stage.OutputLimit{}, true},
	} {
		got, cut, err := stage.LimitOutput(c.output, c.limit)
		if err != nil || cut != c.cut || !cut && got != c.output {
			t.Errorf("%s: cut %v, %v", c.name, cut, err)
		}
		limit := c.limit.Bytes
		if limit == 0 {
			limit = stage.OutputBytes
		}
		if len(got) > limit {
			t.Errorf("%s: %d bytes", c.name, len(got))
		}
	}
	got, _, _ := stage.LimitOutput(big, stage.OutputLimit{})
	contains(t, "the output", got, "head line 0 ", "tail line 1999 ", "panic: runtime error", "left out")
}

func TestLimitOutputFullCopy(t *testing.T) {
	big := lines("l", 5000)
	var full bytes.Buffer
	keep := func(all string) (string, error) {
		full.WriteString(all)
		return "logs/build.txt", nil
	}
	got, cut, err := stage.LimitOutput(big, stage.OutputLimit{Full: keep})
	if err != nil || !cut || full.String() != big {
		t.Fatalf("cut %v, %v, %d bytes kept", cut, err, full.Len())
	}
	contains(t, "the notice", got, "[full output: logs/build.txt]")
	if len(got) > stage.OutputBytes {
		t.Errorf("%d bytes with the notice", len(got))
	}

	// Small output is not copied, and a copy that fails does not lose the rest.
	full.Reset()
	if _, _, err := stage.LimitOutput("ok", stage.OutputLimit{Full: keep}); err != nil || full.Len() > 0 {
		t.Errorf("a small output was copied (%d bytes), %v", full.Len(), err)
	}
	broken := errors.New("disk full")
	got, cut, err = stage.LimitOutput(big, stage.OutputLimit{Full: func(string) (string, error) { return "", broken }})
	if !errors.Is(err, broken) || !cut || !strings.Contains(got, "l line 0 ") {
		t.Errorf("cut %v, %v, %d bytes", cut, err, len(got))
	}
}

func TestReadBudget(t *testing.T) {
	for _, c := range []struct {
		name      string
		size      int64
		remaining int
		bytes     int64
	}{
		{"nothing remains", 10, 0, 0},
		{"less than nothing", 10, -5, 0},
		{"empty file", 0, 1000, 0},
		{"small file", 50_000, 100_000, 50_000},
		{"small file that does not fit", 99_000, 10_000, 24_000},
		{"just not small, fits into 60 %", 100 << 10, 100_000, 100 << 10},
		{"larger than 60 %", 1 << 20, 100_000, 240_000},
		{"5 MB is not large", 5 << 20, 100_000, 240_000},
		{"above 5 MB a preview", 5<<20 + 1, 100_000, 2000},
		{"a preview needs room too", 6 << 20, 100, 240},
	} {
		got := stage.ReadBudget(c.size, c.remaining, 0.6)
		if got != c.bytes || got > 4*int64(max(c.remaining, 0)) {
			t.Errorf("%s: %d bytes, want %d", c.name, got, c.bytes)
		}
	}
}

func TestAttachments(t *testing.T) {
	sizes := []int64{1 << 20, 2000, 9 << 20, 300_000, 0}
	got := stage.Attachments(sizes, 100_000, 0.6)
	if want := []int64{118_000, 2000, 2000, 118_000, 0}; !slices.Equal(got, want) {
		t.Errorf("%d bytes, want %d: the two that do not fit share what the others leave", got, want)
	}
	if none := stage.Attachments([]int64{10, 20}, 0, 0.6); !slices.Equal(none, []int64{0, 0}) {
		t.Errorf("nothing remains, yet %d", none)
	}
	if len(stage.Attachments(nil, 1000, 0.6)) != 0 {
		t.Error("plans for no files")
	}
}
