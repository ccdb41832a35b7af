package session_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/internal/neurolink"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/transcript"
)

// TestRealSessions imports real sessions, continues them, compacts them twice,
// takes both back and exports them: nothing of the original may be lost.
func TestRealSessions(t *testing.T) {
	longrun.Only(t, "real sessions take a while")
	dir := corpus.Dir(t, "sessions")
	done := make(map[transcript.Format]int)
	most, largest := 1, int64(3<<20) // of each format, in bytes
	if os.Getenv("WINNOW_LARGE") != "" {
		most, largest = 1000, 1<<30
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch filepath.Ext(path) {
		case ".tsv", ".md", "":
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() > largest {
			return err
		}
		list, err := transcript.ReadFile(path, nil)
		if err != nil || done[list[0].Format] >= most || list[0].History.Len() == 0 {
			return err
		}
		done[list[0].Format]++
		t.Run(filepath.Base(path), func(t *testing.T) { realSession(t, &list[0]) })
		return nil
	})
	must(t, err)
	if len(done) < 3 {
		t.Errorf("formats: %v", done)
	}
	t.Logf("sessions by format: %v", done)
}

func realSession(t *testing.T, in *transcript.Session) {
	ctx := t.Context()
	w, err := winnow.New(nil)
	must(t, err)
	all, err := plan.Apply(in.History, nil)
	must(t, err)
	tokens := w.Meter().Measure(all).Tokens
	o := &session.Options{Settings: winnow.Settings{Window: max(12000, tokens/2+4000), OutputReserve: 1000, KeepRecent: 1500}, Manual: true}
	st := store(t)
	s, err := session.Import(ctx, st, session.Header{ID: "real", Dir: "/project"}, in.Request(), o)
	must(t, err)
	defer s.Close()
	c, err := s.Context()
	must(t, err)
	for i := range in.History.Len() {
		a, b := in.History.At(i), c.Request.History.At(i)
		if !sameWords(a, b) {
			t.Fatalf("message %d changed on import:\n%+v\n%+v", i, a, b)
		}
	}
	imported := seen(t, s)
	compacted := 0
	var ids []string
	for k := range 2 {
		for n := 0; ; n++ {
			turns(t, s, 1000+100*k+n, 1, max(3000, tokens/5))
			due, _, err := s.NeedsCompaction()
			must(t, err)
			if due {
				break
			}
		}
		c, err := s.Compact(ctx, "")
		must(t, err)
		compacted++
		ids = append(ids, c.Entry.ID)
	}
	checkForPi(t, s.Info().Path)
	s.Close()
	again, err := session.Open(ctx, st, "real", o)
	must(t, err)
	defer again.Close()
	for i := len(ids) - 1; i >= 0; i-- {
		_, err := again.Rewind(ctx, ids[i])
		must(t, err)
	}
	if got := seen(t, again); !strings.HasPrefix(got, imported) {
		t.Error("after the rewinds the conversation is not what it was")
	}
	sameMessages(t, "after the rewinds", in.History, again)
	var out strings.Builder
	_, err = again.WriteTo(&out)
	must(t, err)
	path := filepath.Join(t.TempDir(), "export.jsonl")
	write(t, path, out.String())
	log, err := openFile(path)
	must(t, err)
	exported, err := session.New(ctx, log, o)
	must(t, err)
	defer exported.Close()
	sameMessages(t, "in the export", in.History, exported)
	back, err := transcript.Read([]byte(out.String()), nil)
	must(t, err)
	found := inOrder(t, in.History, back[0].History)
	t.Logf("%s: %d messages, %d tokens, %d compactions, %d pieces found again in the export", in.Format, in.History.Len(), tokens, compacted, found)
}

// sameMessages checks that a session starts with every message of the original:
// its parts, who said it when, and what it cost.
func sameMessages(t *testing.T, where string, want chat.History, s *session.Session) {
	t.Helper()
	c, err := s.Context()
	must(t, err)
	h := c.Request.History
	if h.Len() < want.Len() {
		t.Fatalf("%s: %d messages of %d", where, h.Len(), want.Len())
	}
	for i := range want.Len() {
		a, b := want.At(i), h.At(i)
		usage := a.Usage == nil || b.Usage != nil && *a.Usage == *b.Usage || *a.Usage == chat.Usage{}
		if !sameWords(a, b) || a.Model != "" && a.Model != b.Model || a.Time != 0 && a.Time != b.Time || !usage {
			t.Fatalf("%s: message %d is another:\n%+v %+v\n%+v %+v", where, i, a, a.Usage, b, b.Usage)
		}
	}
}

// inOrder checks that everything that the original says stands in the export as
// any reader of pi's format sees it, in the same order. It returns how many
// pieces there are.
func inOrder(t *testing.T, want, got chat.History) int {
	t.Helper()
	have, at := pieces(got), 0
	all := pieces(want)
	for i, p := range all {
		for at < len(have) && have[at] != p {
			at++
		}
		if at == len(have) {
			t.Fatalf("piece %d of %d is not in the export: %.300q", i, len(all), p)
		}
		at++
	}
	return len(all)
}

// pieces are what the messages of a history say, one by one: what pi's format
// has a place for.
func pieces(h chat.History) []string {
	var out []string
	for i := range h.Len() {
		m := h.At(i)
		if m.Role == chat.System { // of which pi has one text
			out = append(out, "system: "+strings.TrimSpace(m.Text()))
			continue
		}
		for k := range m.Parts {
			switch p := &m.Parts[k]; p.Kind {
			case chat.Text:
				if text := strings.TrimSpace(p.Text); text != "" {
					out = append(out, string(m.Role)+": "+strings.ToValidUTF8(text, "\uFFFD"))
				}
			case chat.ToolCall:
				out = append(out, "call "+p.Name)
			case chat.ToolResult:
				if len(p.Content) > 0 { // pictures and more, for which pi has other forms
					continue
				}
				out = append(out, "result "+strings.ToValidUTF8(strings.TrimSpace(p.Text), "\uFFFD"))
			}
		}
	}
	return out
}

// sameWords compares messages but for what an append fills in.
func sameWords(a, b *chat.Message) bool {
	if a.Role != b.Role || a.Synthetic != b.Synthetic || len(a.Parts) != len(b.Parts) {
		return false
	}
	valid := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
	for i := range a.Parts {
		p, q := a.Parts[i], b.Parts[i]
		if p.Kind != q.Kind || valid(p.Text) != q.Text || valid(p.ID) != q.ID || p.Name != "" && valid(p.Name) != q.Name || valid(p.Data) != q.Data ||
			p.Signature != q.Signature || p.Failed != q.Failed || len(p.Content) != len(q.Content) {
			return false
		}
		if !strings.ContainsAny(p.Args, "\n\r") && valid(p.Args) != q.Args {
			return false
		}
	}
	return true
}

// TestFormats does the same with the small files of every format that can be
// read, NeuroLink's among them.
func TestFormats(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "transcript", "testdata", "*.golden"))
	must(t, err)
	done := make(map[transcript.Format]bool)
	for _, golden := range files {
		path := strings.TrimSuffix(golden, ".golden")
		list, err := transcript.ReadFile(path, nil)
		must(t, err)
		done[list[0].Format] = true
		t.Run(filepath.Base(path), func(t *testing.T) { realSession(t, &list[0]) })
	}
	for _, f := range transcript.Formats() {
		if !done[f] {
			t.Errorf("there is no file of format %s", f)
		}
	}
}

// TestTags writes a compacted session with NeuroLink's tags and reads them back.
func TestTags(t *testing.T) {
	s := create(t, &session.Options{Settings: folding()})
	turns(t, s, 0, 12, 2500)
	_, err := s.Compact(t.Context(), "")
	must(t, err)
	c, err := s.Context()
	must(t, err)
	tagged, left, err := neurolink.Export(c.Request.History, c.View.Plan())
	must(t, err)
	var effective []chat.Message // what a reader of tags sends
	for i := range tagged {
		if tagged[i].CondenseParent == "" && tagged[i].TruncationParent == "" {
			effective = append(effective, tagged[i].Message)
		}
	}
	if left != 0 || len(effective) != c.View.Len() {
		t.Errorf("%d edits are left; %d messages are seen, want %d", left, len(effective), c.View.Len())
	}
	for i := range effective {
		if effective[i].Text() != c.View.At(i).Text() {
			t.Errorf("message %d differs", i)
		}
	}
}
