package app

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// TestProgress follows a bar through a phase with counts and one without.
func TestProgress(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(0, 0)
	p := newProgress(&out, style{Width: 80}, func() time.Time { return now })
	p.set(1, 100, "cuts")
	if out.Len() > 0 {
		t.Errorf("shown at once: %q", out.String())
	}
	now = now.Add(10 * time.Second)
	p.set(25, 100, "cuts")
	if got := out.String(); got != "\r\x1b[K[######..................] 25 %, 25 of 100, 30 s left: cuts" {
		t.Errorf("after 10 s: %q", got)
	}
	out.Reset()
	now = now.Add(time.Millisecond)
	p.set(26, 100, "cuts")
	if out.Len() > 0 {
		t.Errorf("shown again after a millisecond: %q", out.String())
	}
	p.set(100, 100, "cuts")
	if got := out.String(); !strings.Contains(got, "100 %") || strings.Contains(got, "left") {
		t.Errorf("at the end: %q", got)
	}
	out.Reset()
	now = now.Add(time.Second)
	p.set(0, 0, "writing")
	now = now.Add(90 * time.Second)
	p.set(0, 0, "writing")
	if got := out.String(); !strings.HasSuffix(got, "writing … 1 min 30 s") {
		t.Errorf("without a total: %q", got)
	}
	out.Reset()
	p.clear()
	if out.String() != "\r\x1b[K" {
		t.Errorf("cleared by %q", out.String())
	}
	out.Reset()
	p.clear()
	p.set(1, 2, "late")
	if out.Len() > 0 {
		t.Errorf("shown after it was cleared: %q", out.String())
	}
	var none *progress // where nobody would see it
	none.set(1, 2, "x")
	none.clear()
}

// TestDuration writes times for people.
func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 59 * time.Second: "59 s", 61 * time.Second: "1 min 01 s", 2*time.Hour + 3*time.Minute: "2 h 03 min",
	} {
		if got := formatDuration(d); got != want {
			t.Errorf("duration(%v) = %q, want %q", d, got, want)
		}
	}
}

// TestAwait leaves work alone when the context ends, and returns what it
// returns otherwise.
func TestAwait(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	block := make(chan struct{})
	defer close(block)
	started := make(chan struct{})
	go func() { <-started; cancel() }()
	_, err := await(ctx, func() (int, error) { close(started); <-block; return 1, nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if n, err := await(t.Context(), func() (int, error) { return 2, nil }); n != 2 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
}
