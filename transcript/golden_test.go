package transcript

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/winnow-llm/winnow/chat"
)

var update = flag.Bool("update", false, "write the golden files anew")

// render prints sessions so that a person can compare them.
func render(sessions []Session) string {
	var b strings.Builder
	for i := range sessions {
		s := &sessions[i]
		fmt.Fprintf(&b, "session %s %q format=%s model=%s\n", s.ID, s.Title, s.Format, s.Model)
		for _, p := range s.System {
			fmt.Fprintf(&b, "  system %s\n", renderPart(&p))
		}
		for _, t := range s.Tools {
			fmt.Fprintf(&b, "  tool %s: %s %s\n", t.Name, t.Description, t.Schema)
		}
		for k, m := range s.History.All() {
			for _, c := range s.Compactions {
				if c.At == k {
					renderCompaction(&b, c)
				}
			}
			fmt.Fprintf(&b, "%3d %s", k, m.Role)
			if m.Synthetic {
				b.WriteString(" synthetic")
			}
			for _, f := range [...][2]string{{"id", m.ID}, {"model", m.Model}} {
				if f[1] != "" {
					fmt.Fprintf(&b, " %s=%s", f[0], f[1])
				}
			}
			if m.Time != 0 {
				fmt.Fprintf(&b, " time=%d", m.Time)
			}
			if m.Wire != 0 {
				fmt.Fprintf(&b, " wire=%d", m.Wire)
			}
			if u := m.Usage; u != nil {
				fmt.Fprintf(&b, " usage=%d+%d+%d/%d(%d)", u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Thinking)
			}
			b.WriteByte('\n')
			for n := range m.Parts {
				fmt.Fprintf(&b, "      %s\n", renderPart(&m.Parts[n]))
			}
		}
		for _, c := range s.Compactions {
			if c.At == s.History.Len() {
				renderCompaction(&b, c)
			}
		}
		var skipped []string
		for k, n := range s.Skipped {
			skipped = append(skipped, fmt.Sprintf("%s: %d", k, n))
		}
		sort.Strings(skipped)
		if len(skipped) > 0 {
			fmt.Fprintf(&b, "  skipped %s\n", strings.Join(skipped, ", "))
		}
		for _, w := range s.Warnings {
			fmt.Fprintf(&b, "  warning %s\n", w)
		}
	}
	return b.String()
}

func renderCompaction(b *strings.Builder, c Compaction) {
	fmt.Fprintf(b, "  --- compacted %s %d -> %d tokens, line %d: %q\n", c.Trigger, c.TokensBefore, c.TokensAfter, c.Line, c.Summary)
}

func renderPart(p *chat.Part) string {
	var b strings.Builder
	b.WriteString(p.Kind.String())
	if p.Failed {
		b.WriteString(" failed")
	}
	for _, f := range [...][2]string{{"id", p.ID}, {"name", p.Name}, {"text", p.Text}, {"args", p.Args}, {"media", p.Media}, {"data", p.Data}, {"signature", p.Signature}} {
		if f[1] != "" {
			fmt.Fprintf(&b, " %s=%q", f[0], f[1])
		}
	}
	for i := range p.Content {
		fmt.Fprintf(&b, " [%s]", renderPart(&p.Content[i]))
	}
	return b.String()
}

// fixtures are the project's own small files, one or more for each format.
func fixtures(t testing.TB) []string {
	t.Helper()
	var files []string
	all, err := filepath.Glob(filepath.Join("testdata", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if info, err := os.Stat(f); err == nil && !info.IsDir() && !strings.HasSuffix(f, ".golden") {
			files = append(files, f)
		}
	}
	return files
}

func TestGolden(t *testing.T) {
	seen := map[Format]bool{}
	for _, file := range fixtures(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			sessions, err := ReadFile(file, nil)
			if err != nil {
				t.Fatal(err)
			}
			seen[sessions[0].Format] = true
			if base := filepath.Base(file); !strings.HasPrefix(base, string(sessions[0].Format)) {
				t.Errorf("read as %s", sessions[0].Format)
			}
			got := render(sessions)
			golden := file + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s differs from its golden file (go test -update writes it anew), -want +got:\n%s", file, diff)
			}
		})
	}
	for _, f := range Formats() {
		if !seen[f] {
			t.Errorf("no fixture for %s", f)
		}
	}
}

// What the loss check of the corpus finds must hold for the fixtures, too: no
// words of a message get lost.
func TestFixturesKeepWords(t *testing.T) {
	for _, file := range fixtures(t) {
		sessions, err := ReadFile(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		h := newHaystack(sessions)
		for _, v := range naive(data) {
			walk(v, kindOf(v), func(at, s string) {
				name := at[strings.LastIndexByte(at, '/')+1:]
				switch name {
				case "text", "thinking", "arguments", "output", "command", "prompt", "summary":
				default:
					return
				}
				if excluded(sessions[0].Format, at) || leftOut[s] || len(s) < 4 {
					return
				}
				if !h.has(s) {
					t.Errorf("%s: %q at %s is lost", file, s, at)
				}
			})
		}
	}
}

// leftOut are the words in the fixtures that are left out on purpose.
var leftOut = map[string]bool{
	"A wrong guess.": true, "A dead end.": true, // other branches
	"cat .env": true, "KEY=1": true, // kept out of the context by the user
}
