package providersim

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// The agent's small world: a repository that it works on for ever.
var (
	folders = []string{"internal/store", "cmd/server", "api", "pkg/queue", "web/src", "internal/auth", "tools", "docs"}
	files   = []string{"index.go", "retry.go", "handler.go", "schema.sql", "limits.yaml", "session.ts", "README.md", "worker_test.go"}
	words   = []string{"retry", "timeout", "lock", "migration", "cursor", "batch", "header", "deadline", "checksum", "lease"}
	orders  = []string{"go test ./internal/store", "git diff --stat", "rg -n deadline internal", "go vet ./...", "ls -la", "make build"}
	opening = []string{
		"The failure is in %s: the %s is taken before the %s is known.",
		"I read %s; the %s there does not survive a second %s.",
		"Next I change %s so that the %s is checked against the %s.",
		"The test in %s shows it: one %s is lost for every %s.",
		"Nothing in %s depends on the %s, so the %s can go.",
		"%s needs the %s at line " + "%[4]d" + ", not the %[3]s.",
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
		b.WriteString(writeSentence(r, name))
	}
	return b.String()
}

func writeSentence(r *rand.Rand, name string) string {
	s := opening[r.IntN(len(opening))]
	a, c, n := words[r.IntN(len(words))], words[r.IntN(len(words))], strconv.Itoa(10+r.IntN(400))
	s = strings.Replace(s, "%[4]d", n, 1)
	s = strings.Replace(s, "%[3]s", c, 1)
	for _, w := range []string{name, a, c} {
		s = strings.Replace(s, "%s", w, 1)
	}
	return s
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
