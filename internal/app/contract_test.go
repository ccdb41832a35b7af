package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/demo"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/wire"
)

// TestContract checks the keys that scripts rely on: of each command's JSON
// document, in the braces of a short notation. A list's keys are those of each
// element.
func TestContract(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "session.json")
	write := func(path string, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file, demo.Session())
	write(filepath.Join(dir, "broken.json"), []byte(`[{"role":"tool","tool_call_id":"x","content":"y"}]`))
	if code, _, stderr := command(t, "", "compact", file, "--quiet"); code != exitDone {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	p := file + ".plan.json"
	handle := handlesOf(t, p)[0]
	const edits = "edits[kind from to part stage why before after handle]"
	for _, c := range []struct {
		args  string
		stdin string
		code  int
		keys  string
	}{
		{args: "check " + file, keys: "format model messages turns tokens{total system history prompt tools attachments} limits{context input output_reserve available} bytes images ratio should_compact fits"},
		{args: "compact " + file + " --plan " + filepath.Join(dir, "p.json"), keys: "compacted plan tokens_before tokens_after target stages[name edits saved] messages_before messages_after report{kept reduced removed evidence}"},
		{args: "compact " + file + " --window 1000", code: exitCannotFit, keys: "compacted error{code message floor[what tokens]}"},
		{args: "plan show " + p, keys: edits},
		{args: "plan apply " + p + " " + file, keys: edits},
		{args: "plan diff " + p + " " + p, keys: "edits"},
		{args: "plan undo " + p + " " + file, keys: "edits"},
		{args: "recall " + file + " " + handle + " --plan " + p, keys: "content"},
		{args: "validate " + filepath.Join(dir, "broken.json"), code: exitFailed, keys: "valid problems[rule at message]"},
		{args: "repair " + file, keys: "repaired orphan_calls orphan_results"},
		{args: "tokens " + file, keys: "tokens method bytes"},
		{args: "models gpt-5", keys: "[provider model context input output prices]"},
		{args: "classify", stdin: "prompt is too long", keys: "kind provider limit actual retryable"},
	} {
		t.Run(strings.Fields(c.args)[0]+" "+strings.Fields(c.args + " .")[1][:1], func(t *testing.T) {
			code, stdout, stderr := command(t, c.stdin, append(strings.Fields(c.args), "--json")...)
			if code != c.code {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			var doc any
			if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
				t.Fatal(err)
			}
			for _, missing := range lacking(doc, c.keys) {
				t.Errorf("winnow %s: there is no %s", c.args, missing)
			}
		})
	}
}

// lacking returns the keys of the notation that a document does not have.
func lacking(doc any, keys string) []string {
	var missing []string
	if inner, ok := strings.CutPrefix(keys, "["); ok {
		list, _ := doc.([]any)
		if len(list) == 0 {
			return []string{"element"}
		}
		for _, e := range list {
			missing = append(missing, lacking(e, strings.TrimSuffix(inner, "]"))...)
		}
		return missing
	}
	object, ok := doc.(map[string]any)
	if !ok {
		return []string{"object with " + keys}
	}
	for keys = strings.TrimSpace(keys); keys != ""; keys = strings.TrimSpace(keys) {
		end := strings.IndexAny(keys, " {[")
		name, rest := keys, ""
		if end >= 0 {
			name, rest = keys[:end], keys[end:]
		}
		inner := ""
		if strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "[") {
			closing := closes(rest)
			inner, rest = rest[:closing+1], rest[closing+1:]
		}
		v, ok := object[name]
		if !ok {
			missing = append(missing, name)
		} else if inner != "" {
			for _, m := range lacking(v, strings.TrimSuffix(strings.TrimPrefix(inner, "{"), "}")) {
				missing = append(missing, name+"."+m)
			}
		}
		keys = rest
	}
	return missing
}

// closes returns where the bracket that a text starts with is closed.
func closes(s string) int {
	depth := 0
	for i, c := range s {
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	panic(fmt.Sprintf("unbalanced: %s", s))
}

// handlesOf lists the handles of a plan file.
func handlesOf(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i := range p.Edits {
		if h := p.Edits[i].Handle; h != "" {
			all = append(all, h)
		}
	}
	if len(all) == 0 {
		t.Fatal("the plan has no handles")
	}
	return all
}

// TestRecall gets originals of two plans back: one that reduces results, and
// one that folds.
func TestRecall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "session.json")
	if err := os.WriteFile(file, demo.Session(), 0o600); err != nil {
		t.Fatal(err)
	}
	body, err := wire.Parse(wire.OpenAI, demo.Session())
	if err != nil {
		t.Fatal(err)
	}
	h := body.Request().History
	for _, window := range []string{"200000", "60000"} {
		if code, _, stderr := command(t, "", "compact", file, "--window", window, "--quiet"); code != exitDone {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		handles := handlesOf(t, file+".plan.json")
		for i := 0; i < len(handles); i += 1 + len(handles)/6 {
			handle := handles[i]
			code, stdout, stderr := command(t, "", "recall", file, handle, "--json")
			if code != exitDone {
				t.Fatalf("%s: exit %d: %s", handle, code, stderr)
			}
			var doc recalled
			if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
				t.Fatal(err)
			}
			checkRecalled(t, h, &doc)
			if _, plain, _ := command(t, "", "recall", file, handle); strings.TrimRight(plain, "\n") != strings.TrimRight(doc.Content, "\n") {
				t.Errorf("%s: the text differs from the document's content", handle)
			}
		}
	}
	if code, _, stderr := command(t, "", "recall", file, "wnosuch"); code != exitFailed || !strings.Contains(stderr, "winnow plan show lists them") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := command(t, "", "recall", filepath.Join(dir, "other.json"), "w"); code != exitUsage || !strings.Contains(stderr, "other.json.plan.json: there is no such plan") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// checkRecalled compares a document with the history.
func checkRecalled(t *testing.T, h chat.History, doc *recalled) {
	t.Helper()
	if doc.Part >= 0 {
		if p := &h.At(doc.From).Parts[doc.Part]; doc.Content != show.PartText(p) || doc.Content == "" {
			t.Errorf("%s: not what message %d says", doc.Handle, doc.From)
		}
		return
	}
	if len(doc.Messages) != doc.To-doc.From {
		t.Errorf("%s: %d messages, want %d", doc.Handle, len(doc.Messages), doc.To-doc.From)
	}
	for _, m := range doc.Messages {
		if original := h.At(m.Index); m.Role != original.Role || original.Text() != "" && !strings.Contains(m.Content, original.Parts[0].Text) {
			t.Errorf("%s: not what message %d says", doc.Handle, m.Index)
		}
	}
}
