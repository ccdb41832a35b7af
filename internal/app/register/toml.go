package register

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// tomlFile is Codex's config.toml: a table for each server.
type tomlFile struct {
	// forward are variables that the agent must hand on: it starts servers with
	// an environment of its own.
	forward []string
}

const tomlTable = "mcp_servers"

var (
	tomlHeader = regexp.MustCompile(`^\s*\[`)
	tomlOurs   = regexp.MustCompile(`^\s*\[\s*mcp_servers\s*\.\s*(?:winnow|"winnow"|'winnow')\s*([.\]])`)
	tomlOwn    = regexp.MustCompile(`^\s*(?:command|args|env_vars)\s*=`)
)

func (f *tomlFile) entry(s Server) []string {
	lines := []string{"command = " + quoted(s.Command), "args = " + array(s.Args)}
	if len(f.forward) > 0 {
		lines = append(lines, "env_vars = "+array(f.forward))
	}
	return lines
}

// quoted writes a string as TOML does; JSON's escapes are TOML's too.
func quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can be encoded
	return strings.TrimSpace(b.String())
}

func array(all []string) string {
	q := make([]string, len(all))
	for i := range all {
		q[i] = quoted(all[i])
	}
	return "[" + strings.Join(q, ", ") + "]"
}

// block is the lines of our tables: from a header up to, and without, the next.
type block struct {
	from, to int
	sub      bool // a table below ours, such as its env
}

// blocks finds our tables. Lines inside texts of several lines are no headers.
func blocks(lines []string) []block {
	var out []block
	open := -1
	inside := ""
	for i, line := range lines {
		if inside == "" && tomlHeader.MatchString(line) {
			if open >= 0 {
				out[open].to, open = i, -1
			}
			if m := tomlOurs.FindStringSubmatch(line); m != nil {
				out = append(out, block{i, len(lines), m[1] == "."})
				open = len(out) - 1
			}
		}
		inside = multiline(line, inside)
	}
	for i := range out {
		// Comments and empty lines at the end belong to what follows.
		for out[i].to > out[i].from+1 {
			if t := strings.TrimSpace(lines[out[i].to-1]); t != "" && !strings.HasPrefix(t, "#") {
				break
			}
			out[i].to--
		}
	}
	return out
}

// multiline returns the quotes of a text of several lines that is open at the
// end of a line; "" for none.
func multiline(line, inside string) string {
	for line != "" {
		if inside != "" {
			_, rest, ok := strings.Cut(line, inside)
			if !ok {
				return inside
			}
			inside, line = "", rest
			continue
		}
		i := strings.IndexAny(line, `"'#`)
		if i < 0 || line[i] == '#' {
			return ""
		}
		q := line[i : i+1]
		if triple := strings.Repeat(q, 3); strings.HasPrefix(line[i:], triple) {
			inside, line = triple, line[i+3:]
			continue
		}
		line = line[i+1:]
		for line != "" && line[:1] != q {
			if q == `"` && line[0] == '\\' && len(line) > 1 {
				line = line[1:]
			}
			line = line[1:]
		}
		line = strings.TrimPrefix(line, q)
	}
	return inside
}

func (f *tomlFile) put(doc []byte, s Server) ([]byte, error) {
	_, entry, err := f.read(doc)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(doc), "\n")
	for _, b := range blocks(lines) {
		if b.sub {
			continue
		}
		if f.has(entry, s) {
			return doc, nil
		}
		out := append(append([]string{}, lines[:b.from+1]...), f.entry(s)...)
		for i := b.from + 1; i < b.to; i++ {
			if !tomlOwn.MatchString(lines[i]) {
				out = append(out, lines[i])
				continue
			}
			for depth := depthOf(lines[i]); depth > 0 && i+1 < b.to; { // an array of several lines
				i++
				depth += depthOf(lines[i])
			}
		}
		return []byte(strings.Join(append(out, lines[b.to:]...), "\n")), nil
	}
	if entry != nil {
		return nil, fmt.Errorf("%w: the server is there, but not as a table [%s.%s]", ErrByHand, tomlTable, name)
	}
	text := strings.TrimRight(string(doc), "\n")
	if text != "" {
		text += "\n\n"
	}
	return []byte(text + fmt.Sprintf("[%s.%s]\n", tomlTable, name) + strings.Join(f.entry(s), "\n") + "\n"), nil
}

// depthOf is how many brackets a line leaves open. What is wrong here is found
// when the result is read.
func depthOf(line string) int { return strings.Count(line, "[") - strings.Count(line, "]") }

// has reports whether an entry says what we would write.
func (f *tomlFile) has(entry any, s Server) bool {
	e, _ := entry.(map[string]any)
	want := map[string]any{}
	if toml.Unmarshal([]byte(strings.Join(f.entry(s), "\n")), &want) != nil {
		return false
	}
	for k, v := range want {
		if fmt.Sprint(e[k]) != fmt.Sprint(v) {
			return false
		}
	}
	return true
}

func (f *tomlFile) drop(doc []byte) ([]byte, error) {
	lines := strings.Split(string(doc), "\n")
	all := blocks(lines)
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: the server is there, but not as a table [%s.%s]", ErrByHand, tomlTable, name)
	}
	for i := len(all) - 1; i >= 0; i-- {
		from, to := all[i].from, all[i].to
		if from > 0 && strings.TrimSpace(lines[from-1]) == "" && (to == len(lines) || strings.TrimSpace(lines[to]) == "") {
			from-- // one of the two empty lines around it
		}
		lines = append(lines[:from:from], lines[to:]...)
	}
	return []byte(strings.Join(lines, "\n")), nil
}

func (f *tomlFile) read(doc []byte) (rest, entry any, err error) {
	all := map[string]any{}
	if err := toml.Unmarshal(doc, &all); err != nil {
		return nil, nil, err
	}
	return all, take(all, []string{tomlTable}), nil
}
