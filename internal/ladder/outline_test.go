package ladder

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/workset"
)

// Sources of which every line with a plus belongs into the outline.
var sources = map[string]string{
	"a.go": `
+package a
+import "fmt"
 // A plain remark.
+// See https://example.org/spec for the format.
+const limit = 30
+var (
+	retries = 3
 )
+type Store interface {
+	Get(key string) (string, error)
 }
+func (s *S) Open(path string) error {
 	x := 1
 	fmt.Println(x) 
+	// TODO: close it
 }
 `,
	"a.ts": `
+import { x } from "./x";
+export const PORT = 8080;
+export class Pool extends Base {
+  private readonly size = 4;
+  constructor(size = 3) {
     this.size = size;
     if (size > 2) {
       const local = 1;
     }
   }
+  async take(n: number): Promise<void> {
     return fetch(n);
   }
 }
+export function open(path: string, mode = "r") {
   return path;
 }
 `,
	"a.py": `
+import os
+LIMIT = 30
+class Pool:
+    def take(self, n=3):
         value = n + 1
         return value
+# port 5432 on the test machine
 # nothing
 `,
	"a.rs": `
+use std::io;
+pub const MAX: usize = 9;
+impl<T> Pool<T> {
+    pub fn take(&self, n: usize) -> T {
         let x = 1;
     }
 }
 `,
	"A.java": `
+package a.b;
+import java.util.List;
+public class Pool {
+    private static final int MAX = 7;
+    public int take(int n) {
         return n;
     }
 }
 `,
	"a.c": `
+#include <stdio.h>
+#define MAX 12
+static int take(struct pool *p, int n)
 {
 	int x = 3;
 	return x;
 }
 `,
	"a.cs": `
+using System;
+namespace A
 {
+    public class Pool
     {
+        private const int Max = 7;
+        public int Take(int n = 2)
         {
             return n;
         }
     }
 }
 `,
	"a.rb": `
+require "json"
+module A
+  def take(n = 3)
     x = n
   end
 end
 `,
	"a.php": `
 <?php
+namespace A;
+use A\B;
+class Pool
 {
+    private const MAX = 7;
+    public function take($n = 2)
     {
         return $n;
     }
 }
 `,
	"a.sh": `
+source ./env.sh
+LIMIT=30
+take() {
   echo "$1"
 }
 `,
	"a.yaml": `
+server:
+  port: 80
   list:
     - deep: 1
 `,
	"a.json": `
 {
+  "name": "pool",
+  "scripts": {
       "deep": 1
   }
 }
 `,
	"a.toml": `
+[server]
+port = 80
 `,
	"a.md": `
+# Pool
 It holds things.
+## Use
 `,
	"a.sql": `
+CREATE TABLE jobs (
+  id bigint PRIMARY KEY,
   CHECK (id > 0)
 );
 SELECT 1;
 `,
	"a.xyz": `
+top level
   below it
 `,
}

func TestOutlineByLanguage(t *testing.T) {
	for name, text := range sources {
		var lines []string
		var want []bool
		for l := range strings.SplitSeq(strings.TrimPrefix(text, "\n"), "\n") {
			if len(l) == 0 {
				l = " "
			}
			want, lines = append(want, l[0] == '+'), append(lines, l[1:])
		}
		if name == "a.yaml" {
			want[2] = true // its key, not what is below it
		}
		if name == "a.json" {
			lines[3] = "          " + strings.TrimSpace(lines[3])
		}
		got := make([]bool, len(lines))
		lang := languageOf(name)
		for _, m := range (&filler{}).findDefinitions(name, lang, lines) {
			got[m.line] = true
		}
		for i, l := range lines {
			if got[i] = got[i] || lang.hasTellingComment(strings.TrimSpace(l)); got[i] != want[i] && !strings.HasPrefix(l, "var (") {
				t.Errorf("%s: %q: in the outline: %v", name, l, got[i])
			}
		}
	}
}

// A piece of a Go file is read as far as it can be parsed, and then by its lines;
// parameters on several lines are one.
func TestOutlineOfPieces(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"a.go", "\treturn 1\n}\n\nfunc next(a int,\n\tb int) error {\n\treturn", []string{"func next(a int, b int) error {"}},
		{"a.go", "func one() {\n}\n\nfunc two(\n\ta int,\n) {\n\tif x {", []string{"func one()", "func two(a int) {"}},
		{"a.go", "package p\n\nfunc one() {\n\tif x {", []string{"package p", "func one() {"}},
		{"a.py", "def f(\n    a,\n    b=3,\n):\n    pass", []string{"def f(a, b=3):"}},
	} {
		var got []string
		for _, m := range (&filler{}).findDefinitions(c.name, languageOf(c.name), strings.Split(c.text, "\n")) {
			got = append(got, m.text)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// A file that has no room shows what it defines and what the agent was after, in a
// tenth of its tokens; what programs make has its line in the list only.
func TestOutlineInState(t *testing.T) {
	var body, data strings.Builder
	n := 0
	line := func(format string, args ...any) {
		n++
		fmt.Fprintf(&body, "%6d→%s\n", n, fmt.Sprintf(format, args...))
	}
	line("package pool")
	line("const retries = 17")
	for i := range 60 {
		line("// It is kept below /var/%d and in no other place.", i)
		line("func step%d(in int) int {", i)
		for k := range 12 {
			line("\tin += table[%d] * weight[in+%d] // carried", k, i*k)
		}
		line("\tcheckAgain(in) // as ever")
		if i == 30 {
			line("\tdefault:")
		}
		line("\treturn clampTo%d(in)", i)
		line("}")
	}
	for i := range 400 {
		fmt.Fprintf(&data, "%6d→module/%d v1.0.%d h1:abcdefabcdef=\n", i+1, i, i)
	}
	h := chat.NewHistory(
		chat.TextMessage(chat.User, "Look at the pool."),
		chat.CallMessage("", chat.Call("1", "Read", `{"file_path":"/w/pool.go"}`)), chat.ResultMessage("1", body.String()),
		chat.CallMessage("", chat.Call("2", "Read", `{"file_path":"/w/go.sum"}`)), chat.ResultMessage("2", data.String()),
		chat.CallMessage("It ends in `return clampTo41(in)`, I think, behind `checkAgain(in) // as ever`.", chat.Call("3", "Grep", `{"pattern":"clampTo7\\b|carried in|default:","path":"/w"}`)), chat.ResultMessage("3", "no matches"),
		chat.TextMessage(chat.Assistant, "Read."),
	)
	form := Read(h, counter, nil).Fill(Room{Tokens: 3000, Whole: 40_000, To: h.Len(), Turn: -1, Shown: make([]bool, h.Len())})
	shown, outline, _ := strings.Cut(form.State, "outline, with line numbers")
	for _, want := range []string{"package pool", "const retries = 17", "1008: func step59(in int) int", "716: \treturn clampTo41(in)", "return clampTo7(in)"} {
		if !strings.Contains(shown+outline, want) {
			t.Errorf("no %q", want)
		}
	}
	if got, file := counter.Text(outline), counter.Text(body.String()); got > file/10+40 {
		t.Errorf("the outline has %d tokens, the file %d", got, file)
	}
	if strings.Contains(outline, "carried") || strings.Contains(outline, "as ever") {
		t.Error("a word that stands in every line picks lines")
	}
	if strings.Count(outline, "func step") < 40 {
		t.Error("comments take the place of declarations")
	}
	if strings.Contains(outline, "default:") {
		t.Error("a keyword picks a line")
	}
	if strings.Contains(form.State, "module/7 ") {
		t.Error("a file of checksums is shown")
	}
	if t.Failed() {
		t.Log(form.State)
	}

	start := strings.Join(strings.SplitAfter(body.String(), "\n")[:200], "")
	h = h.Append(chat.CallMessage("", chat.Call("4", "Read", `{"file_path":"/w/pool.go","limit":200}`)), chat.ResultMessage("4", start))
	shows := make([]bool, h.Len())
	shows[h.Len()-1] = true
	form = Read(h, counter, nil).Fill(Room{Tokens: 3000, Whole: 40_000, To: h.Len() - 2, Turn: -1, Shown: shows})
	if _, outline, _ := strings.Cut(form.State, "outline, with line numbers"); strings.Contains(outline, "func step7(") || !strings.Contains(outline, "func step40(") {
		t.Errorf("what a message shows is outlined, or else what none does is not:\n%s", form.State)
	}
}

// Where signatures have no room, each function still has its name and number, though
// values and comments would fill the outline.
func TestOutlineNamesFunctions(t *testing.T) {
	var body strings.Builder
	n := 0
	line := func(format string, args ...any) {
		n++
		fmt.Fprintf(&body, "%6d→%s\n", n, fmt.Sprintf(format, args...))
	}
	line("package explain")
	at := map[string]int{}
	for i := range 35 {
		line("const limitOf%d = %d // since 20%02d, see /etc/limits/%d", i, 1000+i, i, i)
		line("func (e *explainer) Explain%d(ctx context.Context, plan *Plan, options ...Option) (*Explanation, error) {", i)
		at[fmt.Sprintf("Explain%d", i)] = n
		for k := range 16 {
			line("\te.total += plan.cost[%d] * e.weight(ctx, options, %d)", k, i*k)
		}
		line("}")
	}
	h := chat.NewHistory(
		chat.TextMessage(chat.User, "Look at it."),
		chat.CallMessage("", chat.Call("1", "Read", `{"file_path":"/w/explain.go"}`)), chat.ResultMessage("1", body.String()),
		chat.TextMessage(chat.Assistant, "Read."),
	)
	f := Read(h, counter, nil).newFiller(Room{Tokens: 1100, Whole: 20_000, To: h.Len(), Turn: -1, Shown: make([]bool, h.Len())})
	file := f.readPresent().files[0]
	most := counter.Text(body.String()) / shortPart
	lines, tokens := f.outlineOf(file, most)
	var b strings.Builder
	writeOutline(&b, &fileView{file: file, outline: lines})
	for name, line := range at {
		if text := fmt.Sprintf("%d: ", line); !strings.Contains(b.String(), text+name) && !strings.Contains(b.String(), text+"func (e *explainer) "+name+"(") {
			t.Errorf("%s is not found by its number", name)
		}
	}
	if !strings.Contains(b.String(), "const limitOf3 = 1003") || tokens > most || counter.Text(b.String()) > most*11/10+20 {
		t.Errorf("%d tokens of %d, or no values", counter.Text(b.String()), most)
	}
	if t.Failed() {
		t.Log(b.String())
	}
	for code, want := range map[string]string{
		"func (f *filler) outlineOf(file int) error {": "outlineOf", "func Map[K comparable](m K)": "Map", "type Store interface {": "Store",
		"var errFull = errors.New(1)": "errFull",
	} {
		if got := languageOf("a.go").nameIn(code); got != want {
			t.Errorf("%q names %q", code, got)
		}
	}
	if got := languageOf("a.ts").nameIn("export default async function open<T>(path: string) {"); got != "open" {
		t.Error(got)
	}
}

// An outline repeats no line that is shown.
func TestOutlineBesideLines(t *testing.T) {
	file := &workset.File{Path: "a.go", Regions: []workset.Region{{From: 7, Lines: []workset.Line{{Text: "func a() {\t"}, {Text: "func b() {"}, {Text: "func c() {"}, {Text: "func d() {"}}}}}
	g := &file.Regions[0]
	view := &fileView{file: file, lines: map[*workset.Region][]bool{g: {true, false, false, false}}}
	for i, l := range g.Lines {
		view.outline = append(view.outline, outlineLine{region: g, line: i, text: strings.TrimSpace(l.Text)})
	}
	var b strings.Builder
	writeOutline(&b, view)
	if got, want := b.String(), "outline, with line numbers; read a range for its text:\n```\n8: func b() {\n9: func c() {\n10: func d() {\n```\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A piece of a source may break off anywhere, and its comments may say that its lines
// have other numbers.
func TestOutlineOfBrokenPieces(t *testing.T) {
	const text = "package p\n\n//line other.go:900\nimport \"fmt\"\n\ntype T interface {\n\tDo(a int) error\n}\n\nfunc (t *T) Do(a,\n\tb int) (n int, err error) {\n\treturn fmt.Print(a)\n}\n\nvar x = []int{1,\n\t2}\n"
	for from := range text {
		for to := from; to <= len(text); to++ {
			(&filler{}).findDefinitions("a.go", languageOf("a.go"), strings.Split(text[from:to], "\n"))
		}
	}
}

// Where many files have no room, each of them still tells its values and defaults,
// wherever they stand in it: no file that was read once is gone, and the newest are
// whole.
func TestOldFilesTellTheirValues(t *testing.T) {
	h := chat.NewHistory(chat.TextMessage(chat.User, "Read them all."))
	const files = 28
	for i := range files {
		var body strings.Builder
		for k := range 30 {
			fmt.Fprintf(&body, "handler_%d = registry.lookup(handlers, kind_%d)\n\ndef step_%d(source, sink):\n    return sink.put(source.take(handlers[kind_%d]))\n\n", k, k, k, k)
		}
		fmt.Fprintf(&body, "LIMIT_%d = %d\n\ndef renew_%d(source, batch=%d):\n    return source\n\n# kept below %d since the outage\n", i, 700_000+i, i, 800_000+i, 900_000+i)
		id := fmt.Sprint(i)
		h = h.Append(chat.CallMessage("", chat.Call(id, "Read", fmt.Sprintf(`{"file_path":"/w/part%d.py"}`, i))), chat.ResultMessage(id, body.String()))
	}
	h = h.Append(chat.TextMessage(chat.Assistant, "Read."))
	const room = 32_000
	form := Read(h, counter, nil).Fill(Room{Tokens: room, To: h.Len(), Turn: -1, Shown: make([]bool, h.Len())})
	for i := range files {
		for _, want := range []string{fmt.Sprintf("LIMIT_%d = %d", i, 700_000+i), fmt.Sprintf("def renew_%d(source, batch=%d)", i, 800_000+i), fmt.Sprintf("below %d since", 900_000+i)} {
			if strings.Count(form.State, want) != 1 {
				t.Errorf("%q stands there %d times", want, strings.Count(form.State, want))
			}
		}
	}
	if n := strings.Count(form.State, "the whole file:"); n < 10 || !strings.Contains(form.State, "### /w/part27.py\nthe whole file:") {
		t.Errorf("%d files are whole", n)
	}
	if used := counter.Text(form.Fold) + counter.Text(form.State); used > room || used < room*9/10 {
		t.Errorf("%d tokens of %d", used, room)
	}
}
