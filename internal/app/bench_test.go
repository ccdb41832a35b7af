package app

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/winnow-llm/winnow/internal/app/demo"
)

// BenchmarkCompact runs the whole command on a request of 10,000 messages and
// about 5 MB: reading, planning, report, plan file. WINNOW_LARGE keeps the file
// for measuring the process itself.
func BenchmarkCompact(b *testing.B) {
	path := filepath.Join(b.TempDir(), "large.json")
	if keep := os.Getenv("WINNOW_LARGE"); keep != "" {
		path = keep
	}
	if err := os.WriteFile(path, demo.Large(10000), 0o600); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		var out, errs bytes.Buffer
		if code := Run([]string{"compact", path, "--json"}, nil, &out, &errs); code != exitDone {
			b.Fatalf("exit %d: %s", code, errs.String())
		}
	}
}
