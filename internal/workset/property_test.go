package workset

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"pgregory.net/rapid"
)

// Whatever an agent does to its files, in whichever dialect, every line that the
// set is certain of is the file's line.
func TestCertainLinesAreTrue(t *testing.T) {
	// The ordinary run draws the same sessions every time, so that it says something
	// about a change. Others are drawn by hand: -rapid.seed=N -rapid.checks=20000.
	if f := flag.Lookup("rapid.seed"); f != nil && f.Value.String() == "0" {
		if err := f.Value.Set("11"); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { session(t, &d) })
		})
	}
}

// aLine draws a line; the common ones stand in a file many times.
func aLine(t *rapid.T) string {
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return ""
	case 1:
		return rapid.SampledFrom([]string{"}", "\treturn nil", "a", "aa", "# title", "x: 12"}).Draw(t, "common")
	}
	return fmt.Sprintf("%sline %d := f(%d)", rapid.SampledFrom([]string{"", "\t", "    "}).Draw(t, "indent"), rapid.IntRange(0, 60).Draw(t, "n"), rapid.IntRange(0, 3).Draw(t, "m"))
}

func aText(t *rapid.T) string {
	text := strings.Join(rapid.SliceOfN(rapid.Custom(aLine), 1, 30).Draw(t, "lines"), "\n")
	if rapid.IntRange(0, 4).Draw(t, "newline") > 0 {
		text += "\n"
	}
	return text
}

func session(t *rapid.T, d *dialect) {
	w := &world{files: map[string]string{}}
	names := []string{"/w/a.go", "/w/b.go", "/w/sub/c.go"}
	for _, n := range names {
		w.files[n] = aText(t)
	}
	set := New(nil)
	h := chat.History{}
	for range rapid.IntRange(1, 25).Draw(t, "steps") {
		p := rapid.SampledFrom(names).Draw(t, "file")
		w.msgs = nil
		act(t, w, d, p)
		h = h.Append(w.msgs...)
		for i := h.Len() - len(w.msgs); i < h.Len(); i++ {
			set.Add(h, i)
		}
		check(t, w, set)
	}
}

// act does one thing to a file, or to all.
func act(t *rapid.T, w *world, d *dialect, p string) {
	text, there := w.files[p]
	lines := w.lines(p)
	switch what := rapid.IntRange(0, 13).Draw(t, "what"); {
	case !there || what == 0:
		d.write(w, p, aText(t))
	case what <= 3:
		from := rapid.IntRange(0, max(len(lines), 1)).Draw(t, "from")
		d.read(w, p, from, rapid.IntRange(1, 12).Draw(t, "count"))
	case what <= 7 && d.edit != nil && text != "":
		old, now := anEdit(t, text)
		d.edit(w, p, old, now, rapid.IntRange(0, 5).Draw(t, "all") == 0)
	case what == 8:
		more := ended(strings.Join(rapid.SliceOfN(rapid.Custom(aLine), 1, 4).Draw(t, "more"), "\n"))
		if more == "" {
			more = "\n"
		}
		w.files[p] += more
		d.shell(w, "cat >> "+p+" <<'EOF'\n"+more+"EOF", "", 0)
	case what == 9:
		to := "/w/sub/moved.go"
		w.files[to] = text
		delete(w.files, p)
		d.shell(w, "mv "+p+" "+to, "", 0)
	case what == 10:
		sedInPlace(t, w, d, p)
	case what == 11:
		two(w, d, p, lines)
	case what == 12:
		// A change that nobody saw, and what gives it away.
		w.files[p] = aText(t)
		if rapid.Bool().Draw(t, "who") {
			w.msgs = append(w.msgs, chat.TextMessage(chat.User, "I changed something."))
		} else {
			d.shell(w, "git checkout other", "Switched to branch 'other'\n", 0)
		}
	default:
		// A command that fails changes the file in part, or not at all.
		if rapid.Bool().Draw(t, "half") {
			w.files[p] = strings.ReplaceAll(text, "line 1", "line 2")
		}
		d.shell(w, "sed -i 's/line 1/line 2/g' "+p+" /w/absent", "sed: can't read /w/absent: No such file or directory\n", 2)
	}
}

// anEdit draws a piece of a text and what takes its place.
func anEdit(t *rapid.T, text string) (old, now string) {
	a := rapid.IntRange(0, len(text)-1).Draw(t, "begin")
	b := rapid.IntRange(a+1, min(len(text), a+80)).Draw(t, "end")
	if rapid.Bool().Draw(t, "whole lines") {
		a = strings.LastIndexByte(text[:a], '\n') + 1
		if k := strings.IndexByte(text[b-1:], '\n'); k >= 0 {
			b += k
		}
	}
	old = text[a:b]
	now = strings.Join(rapid.SliceOfN(rapid.Custom(aLine), 0, 4).Draw(t, "new"), "\n")
	if strings.HasSuffix(old, "\n") && now != "" && rapid.IntRange(0, 3).Draw(t, "keep newline") > 0 {
		now += "\n"
	}
	if now == old {
		now += "changed"
	}
	return old, now
}

func sedInPlace(t *rapid.T, w *world, d *dialect, p string) {
	lines := slices.Clone(w.lines(p))
	if len(lines) == 0 {
		return
	}
	newline := strings.HasSuffix(w.files[p], "\n")
	n := rapid.IntRange(1, len(lines)).Draw(t, "line")
	command := ""
	switch rapid.IntRange(0, 2).Draw(t, "script") {
	case 0:
		command = "s/line/row/g"
		for i := range lines {
			lines[i] = strings.ReplaceAll(lines[i], "line", "row")
		}
	case 1:
		command = fmt.Sprintf("%dd", n)
		if n == len(lines) {
			newline = true
		}
		lines = slices.Delete(lines, n-1, n)
	case 2:
		command = fmt.Sprintf("%di\\    new line", n)
		lines = slices.Insert(lines, n-1, "    new line")
	}
	w.files[p] = strings.Join(lines, "\n")
	if newline && len(lines) > 0 {
		w.files[p] += "\n"
	}
	d.shell(w, "sed -i '"+command+"' "+p, "", 0)
}

// two shows two ranges of one file by one command.
func two(w *world, d *dialect, p string, lines []string) {
	if !strings.HasSuffix(w.files[p], "\n") {
		return
	}
	out := printed("\n", window(lines, 1, 5), false) + "---\n" + printed("\n", window(lines, 3, 9), false)
	d.shell(w, "sed -n '1,5p' "+p+" && echo --- && sed -n '3,11p' "+p, out, 0)
}

// check compares what the set is certain of with the files.
func check(t *rapid.T, w *world, set *Set) {
	for _, f := range set.Files() {
		lines := w.lines(f.Path)
		if f.Deleted {
			if _, there := w.files[f.Path]; there {
				t.Fatalf("%s is there", f.Path)
			}
			continue
		}
		certain := true
		for i, r := range f.Regions {
			if i > 0 && f.Regions[i-1].end() >= r.From {
				t.Fatalf("%s: regions overlap at %d", f.Path, r.From)
			}
			all := true
			for k, l := range r.Lines {
				all = all && l.Doubt == Certain
				if l.Doubt != Certain {
					continue
				}
				if n := r.From + k; n > len(lines) || lines[n-1] != l.Text {
					t.Fatalf("%s:%d is certain to be %q, the file is\n%q", f.Path, n, l.Text, lines)
				}
			}
			certain = certain && all
		}
		if f.Complete && certain && f.isCounted() && f.total != len(lines) && (f.end != vagueEnd || f.total+1 != len(lines)) {
			t.Fatalf("%s is known as a whole to have %d lines, it has %d", f.Path, f.total, len(lines))
		}
	}
}
