package stage_test

import (
	"bytes"
	"errors"
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
		mode      stage.ReadMode
		bytes     int
	}{
		{"nothing remains", 10, 0, stage.ReadNothing, 0},
		{"less than nothing", 10, -5, stage.ReadNothing, 0},
		{"empty file", 0, 1000, stage.ReadWhole, 0},
		{"small file", 50_000, 100_000, stage.ReadWhole, 50_000},
		{"small file that does not fit", 99_000, 10_000, stage.ReadPart, 24_000},
		{"just not small, fits into 60 %", 100 << 10, 100_000, stage.ReadWhole, 100 << 10},
		{"larger than 60 %", 1 << 20, 100_000, stage.ReadPart, 240_000},
		{"5 MB is not large", 5 << 20, 100_000, stage.ReadPart, 240_000},
		{"above 5 MB a preview", 5<<20 + 1, 100_000, stage.ReadPreview, 2000},
		{"a preview needs room too", 6 << 20, 100, stage.ReadPreview, 240},
	} {
		p := stage.ReadBudget(c.size, c.remaining, stage.FileShare)
		if p.Mode != c.mode || p.Bytes != c.bytes {
			t.Errorf("%s: %+v, want %s of %d bytes", c.name, p, c.mode, c.bytes)
		}
		if p.Tokens > max(c.remaining, 0) {
			t.Errorf("%s: %d tokens of %d that remain", c.name, p.Tokens, c.remaining)
		}
	}
}

func TestAttachments(t *testing.T) {
	sizes := []int64{1 << 20, 2000, 9 << 20, 300_000, 0}
	plans := stage.Attachments(sizes, 100_000, stage.FileShare)
	total := 0
	for i, p := range plans {
		total += p.Bytes
		if int64(p.Bytes) > sizes[i] {
			t.Errorf("file %d: %d bytes of %d", i, p.Bytes, sizes[i])
		}
	}
	if total > 240_000 || total < 230_000 {
		t.Errorf("%d bytes in all, want nearly 60 %% of the remaining tokens and no more", total)
	}
	for i, want := range []stage.ReadMode{stage.ReadPart, stage.ReadWhole, stage.ReadPreview, stage.ReadPart, stage.ReadWhole} {
		if plans[i].Mode != want {
			t.Errorf("file %d: %s, want %s", i, plans[i].Mode, want)
		}
	}
	if plans[0].Bytes != plans[3].Bytes {
		t.Errorf("the two that do not fit get %d and %d bytes", plans[0].Bytes, plans[3].Bytes)
	}
	for _, p := range stage.Attachments([]int64{10, 20}, 0, stage.FileShare) {
		if p.Mode != stage.ReadNothing || p.Bytes != 0 {
			t.Errorf("nothing remains, yet %+v", p)
		}
	}
	if len(stage.Attachments(nil, 1000, stage.FileShare)) != 0 {
		t.Error("plans for no files")
	}
}
