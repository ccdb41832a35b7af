package transcript

import (
	"os"
	"strings"
	"testing"
)

// FuzzRead looks for panics and for errors that do not help, in every format.
func FuzzRead(f *testing.F) {
	for _, file := range fixtures(f) {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, uint8(0))
		f.Add(data[:len(data)/2], uint8(0))
	}
	for i := range Formats() {
		f.Add([]byte(`[{"role":"user","content":"a"}]`), uint8(i+1))
	}
	f.Fuzz(func(t *testing.T, data []byte, format uint8) {
		o := &Options{Name: "f"}
		if all := Formats(); format > 0 {
			o.Format = all[int(format)%len(all)]
		}
		sessions, err := Read(data, o)
		if err != nil {
			if s := err.Error(); !strings.HasPrefix(s, "f") || strings.ContainsAny(s, "\n\r") {
				t.Errorf("error %q", s)
			}
			return
		}
		for i := range sessions {
			s := &sessions[i]
			if s.ID == "" || s.Format == "" {
				t.Errorf("session %d has id %q and format %q", i, s.ID, s.Format)
			}
			for _, c := range s.Compactions {
				if c.At < 0 || c.At > s.History.Len() {
					t.Errorf("a compaction at %d of %d", c.At, s.History.Len())
				}
			}
			if s.History.Len() > 0 && len(s.System) == 0 && s.History.At(0).Role == "system" {
				t.Error("a leading system message in the history")
			}
		}
	})
}
