package providersim

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Tool is a tool that a request offers.
type Tool struct {
	Name   string
	schema value // of its arguments, as the request has it

	// source is set for a tool that takes the text of a program instead of
	// arguments, as Codex's newer models have it.
	source bool

	namespace string // that the tool is declared in, of OpenAI's responses
	carrier   string // the tool by which it is called, where it is not declared
}

// Ask is what an agent sees of a request.
type Ask struct {
	Dialect, Model string
	Tools          []Tool

	// Step is how many answers with calls stand in the current turn.
	Step int

	// LastText is the end of the newest user's message or tool result.
	LastText string

	// LastAsked is the newest text of the user's, or of the program that speaks
	// for the user, where it is the last thing in the prompt: not a result.
	LastAsked string

	// Thinking: the client wants to see thinking, or the model always thinks.
	Thinking bool

	// Choice is auto, none, any, or the name of the one tool to call. Parallel
	// tells whether one answer may have several calls.
	Choice   string
	Parallel bool

	// Want is the header Sim-Answer: text, tools, calls=N or quote=WORD, with
	// thinking or plain (no thinking) and bytes=N added after a comma.
	Want string

	// Rand depends on the seed and on everything in the prompt.
	Rand *rand.Rand

	form    value  // the schema that the answer's text must follow, if any
	sources []Tool // tools that take the text of a program; not among Tools
	body    value
	owner   string // who asks: dialect and credential
	sum     digest // of the prompt
	segs    []segment
}

// extendsPrompt reports whether the prompt is another one with something added.
func (a *Ask) extendsPrompt(sum digest) bool {
	return slices.ContainsFunc(a.segs, func(s segment) bool { return s.sum == sum })
}

// promptTokens returns the size of the prompt.
func (a *Ask) promptTokens() int {
	if len(a.segs) == 0 {
		return 0
	}
	return a.segs[len(a.segs)-1].tokens
}

// Unknown is what the scripted agent answers when it is to quote something that
// stands nowhere in its prompt.
const Unknown = "I do not know."

// Find returns the last line of the prompt in which a word stands, "" for none:
// what a model could know, it could know from there alone.
func (a *Ask) Find(word string) string {
	var line string
	a.eachText(func(text []byte) {
		at := bytes.LastIndex(text, []byte(word))
		if at < 0 {
			return
		}
		from := bytes.LastIndexByte(text[:at], '\n') + 1
		to := len(text)
		if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
			to = at + n
		}
		line = string(text[from:to])
	})
	return line
}

// eachText calls f with every text of the prompt, in order.
func (a *Ask) eachText(f func([]byte)) {
	for _, name := range []string{"system", "instructions", "systemInstruction", "messages", "input", "contents"} {
		a.body.get(name).eachString(f)
	}
}

// BlockKind is what a block of an answer is.
type BlockKind int

const (
	Text BlockKind = iota
	Thinking
	Call
)

// Block is one piece of an answer.
type Block struct {
	Kind BlockKind
	Text string // of text and thinking

	Name string // of a call
	Args string // of a call: a JSON object

	source    bool   // of a call: Args is the text of a program
	namespace string // of a call: of its tool
	id        string
	signature string
}

// Scripted returns the default agent. It works on a task in steps: it thinks if
// it may, says a sentence, calls one to four tools with arguments that follow
// their schemas, and after at most maxSteps such answers in a turn, or earlier
// by chance, writes a final answer. Without tools it answers at once. Asked for
// a quote, it answers with the last line of its prompt that has the word, or
// with [Unknown].
func Scripted(maxSteps int) func(*Ask) []Block {
	return func(a *Ask) []Block {
		w := parseWant(a.Want)
		var out []Block
		if (a.Thinking && !w.plain) || w.thinking {
			out = append(out, Block{Kind: Thinking, Text: writeProse(a.Rand, a.LastText, 1+a.Rand.IntN(3))})
		}
		if n := chooseCallCount(a, w, maxSteps); n > 0 {
			if a.Rand.IntN(2) == 0 {
				out = append(out, Block{Kind: Text, Text: writeProse(a.Rand, a.LastText, 1)})
			}
			for range n {
				t := a.Tools[a.Rand.IntN(len(a.Tools))]
				for _, named := range a.Tools {
					if named.Name == a.Choice {
						t = named
					}
				}
				out = append(out, Block{Kind: Call, Name: t.Name, Args: string(encodeJSON(fillSchema(a.Rand, t.Name, t.schema, 0)))})
			}
			return out
		}
		text := writeProse(a.Rand, a.LastText, 2+a.Rand.IntN(5))
		switch {
		case w.quote != "":
			if text = a.Find(w.quote); text == "" {
				text = Unknown
			}
		case w.bytes > 0:
			text = fillerText(a.Rand, w.bytes)
		}
		return append(out, Block{Kind: Text, Text: text})
	}
}

type want struct {
	text, thinking, plain bool
	calls, bytes          int
	quote                 string
}

func parseWant(s string) want {
	var w want
	for word := range strings.SplitSeq(s, ",") {
		name, arg, _ := strings.Cut(strings.TrimSpace(word), "=")
		n, _ := strconv.Atoi(arg)
		switch name {
		case "text":
			w.text = true
		case "tools":
			w.calls = 1
		case "calls":
			w.calls = max(0, min(n, 64))
		case "thinking":
			w.thinking = true
		case "plain":
			w.plain = true
		case "quote":
			w.text, w.quote = true, arg
		case "bytes":
			w.bytes = max(0, min(n, 1<<28))
		}
	}
	return w
}

// chooseCallCount decides how many calls the answer has.
func chooseCallCount(a *Ask, w want, maxSteps int) int {
	if len(a.Tools) == 0 || a.Choice == "none" || w.text {
		return 0
	}
	n := w.calls
	if n == 0 {
		must := a.Choice != "auto" && a.Choice != ""
		if !must && (a.Step >= maxSteps || a.Step > 0 && a.Rand.IntN(4) == 0) {
			return 0
		}
		n = 1
		if a.Rand.IntN(3) == 0 {
			n += 1 + a.Rand.IntN(3)
		}
	}
	if !a.Parallel {
		n = 1
	}
	return n
}

// The agent's small world: a repository that it works on for ever.
var (
	folders = []string{"internal/store", "cmd/server", "api", "pkg/queue", "web/src", "internal/auth", "tools", "docs"}
	files   = []string{"index.go", "retry.go", "handler.go", "schema.sql", "limits.yaml", "session.ts", "README.md", "worker_test.go"}
	words   = []string{"retry", "timeout", "lock", "migration", "cursor", "batch", "header", "deadline", "checksum", "lease"}
	orders  = []string{"go test ./internal/store", "git diff --stat", "rg -n deadline internal", "go vet ./...", "ls -la", "make build"}
	opening = []string{
		"The failure is in %[1]s: the %[2]s is taken before the %[3]s is known.",
		"I read %[1]s; the %[2]s there does not survive a second %[3]s.",
		"Next I change %[1]s so that the %[2]s is checked against the %[3]s.",
		"The test in %[1]s shows it: one %[2]s is lost for every %[3]s.",
		"Nothing in %[1]s depends on the %[2]s, so the %[3]s can go.",
		"%[1]s needs the %[2]s at line %[4]d, not the %[3]s.",
	}
)

func randomPath(r *rand.Rand) string {
	return folders[r.IntN(len(folders))] + "/" + files[r.IntN(len(files))]
}

// writeProse writes sentences about the repository and, if there is one, about a
// file that the last text names.
func writeProse(r *rand.Rand, last string, sentences int) string {
	var b strings.Builder
	for i := range sentences {
		if i > 0 {
			b.WriteByte(' ')
		}
		name := randomPath(r)
		if r.IntN(2) == 0 {
			if seen := mentionedPath(r, last); seen != "" {
				name = seen
			}
		}
		form := opening[r.IntN(len(opening))]
		fmt.Fprintf(&b, form, name, words[r.IntN(len(words))], words[r.IntN(len(words))], 10+r.IntN(400))
	}
	return b.String()
}

// mentionedPath picks a path that a text names.
func mentionedPath(r *rand.Rand, text string) string {
	var found []string
	for _, f := range strings.FieldsFunc(text, func(c rune) bool {
		return c != '/' && c != '.' && c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	}) {
		f = strings.Trim(f, ".-_")
		if len(f) < 80 && strings.Contains(f, "/") && strings.Contains(f, ".") && !strings.HasPrefix(f, "//") {
			found = append(found, f)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return found[r.IntN(len(found))]
}

// fillerText is text of exactly n bytes.
func fillerText(r *rand.Rand, n int) string {
	unit := writeProse(r, "", 40) + "\n"
	return strings.Repeat(unit, n/len(unit)+1)[:n]
}

// argumentText makes a text for a parameter of that name.
func argumentText(r *rand.Rand, name string) string {
	switch n := strings.ToLower(name); {
	case strings.Contains(n, "path"), strings.Contains(n, "file"):
		return randomPath(r)
	case strings.Contains(n, "dir"), strings.Contains(n, "folder"):
		return folders[r.IntN(len(folders))]
	case strings.Contains(n, "command"), n == "cmd":
		return orders[r.IntN(len(orders))]
	case strings.Contains(n, "url"):
		return "https://example.com/" + words[r.IntN(len(words))]
	case strings.Contains(n, "content"), strings.Contains(n, "text"), strings.Contains(n, "prompt"):
		return writeProse(r, "", 2)
	}
	return words[r.IntN(len(words))]
}
