package providersim

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A need is a fact that the reading of one file takes from another, read before.
type need struct {
	from int // the file that the fact stands in, from 1
	kind factKind
	lag  int

	// A fact is there where one line of the prompt has both its name and its value.
	// The name of a line is the line itself.
	name, value string
}

// factKind is where a fact stands.
type factKind int

// The kinds of facts. Half of all needs are lines; the other kinds share the rest.
const (
	factComment factKind = iota
	factConstant
	factPath
	factDefault
	factDecision // of the model's own
	factLine
	factKinds
)

var factNames = [factKinds]string{"comment", "constant", "path", "default", "decision", "line"}

// summarised are the kinds that a summary by the driver holds: half of them.
var summarised = [factKinds]bool{factConstant: true, factPath: true, factDecision: true}

// Lags between a file and the need of it, in files. A fact is near up to nearLag.
const (
	nearLag = 8
	farLag  = 40
)

// sources is the work of a driver that reads: files, and what each needs of the
// ones before.
type sources struct {
	folder string
	paths  []string // below the folder, in the order in which they are read
	codes  []int    // in the last line of each
	needs  []need   // by the number of the file, from 1; the zero value needs nothing
	pause  time.Duration
}

// source is a file on its way into the folder of an agent.
type source struct {
	path  string
	lines []string
	draws []string // lines that may be asked for
}

// newSources chooses files below the folders of real sources, plants facts in them
// and writes them to folder. Everything depends on the seed alone.
func newSources(o DriveOptions, from []string, folder string) (*sources, error) {
	steps, size := cmp.Or(o.Steps, 60), cmp.Or(o.Bytes, 9_000)
	r := rand.New(rand.NewPCG(o.Seed, 24))
	chosen, err := chooseSources(r, from, steps, size)
	if err != nil {
		return nil, err
	}
	folder, err = filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	s := &sources{folder: folder, needs: make([]need, steps+1)}
	for i := range chosen {
		s.paths = append(s.paths, chosen[i].path)
		s.codes = append(s.codes, 10_000_000+r.IntN(89_999_999))
	}
	for n := nearLag + 1; n <= steps; n++ {
		s.needs[n] = plantNeed(r, chosen, n)
	}
	for i := range chosen {
		f := &chosen[i]
		text := strings.Join(f.lines, "\n") + "\n" + commentSign(f.path) + " " + s.finalLine(i+1) + "\n"
		path := filepath.Join(folder, filepath.FromSlash(f.path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// finalLine returns the last line of a file, without the sign of a comment: who sees it has
// seen the file. Of file 0 there is none.
func (s *sources) finalLine(file int) string {
	if file == 0 {
		return "none"
	}
	return fmt.Sprintf("file %d of %d, check %d", file, len(s.paths), s.codes[file-1])
}

// chooseSources draws files of about a size. Different folders may have files of the same path;
// the first counts.
func chooseSources(r *rand.Rand, from []string, steps, size int) ([]source, error) {
	paths := map[string]string{} // below the agent's folder -> where it is
	for _, root := range from {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.IsDir() && slices.Contains([]string{"testdata", "vendor", "node_modules", "site-packages", ".git"}, e.Name()):
				return filepath.SkipDir
			case e.IsDir() || commentSign(path) == "":
				return nil
			}
			info, err := e.Info()
			if err != nil || info.Size() < int64(size*2/3) || info.Size() > int64(size*3/2) {
				return err
			}
			below, err := filepath.Rel(root, path)
			if below = filepath.ToSlash(below); err == nil && paths[below] == "" {
				paths[below] = path
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	// By language in turn, so that a folder of thousands does not outweigh the others.
	byKind := map[string][]string{}
	for below := range paths {
		byKind[filepath.Ext(below)] = append(byKind[filepath.Ext(below)], below)
	}
	kinds := slices.Sorted(maps.Keys(byKind))
	for _, kind := range kinds {
		slices.Sort(byKind[kind])
		r.Shuffle(len(byKind[kind]), func(i, j int) { byKind[kind][i], byKind[kind][j] = byKind[kind][j], byKind[kind][i] })
	}
	var out []source
	for round := 0; len(out) < steps; round++ {
		before := len(out)
		for _, kind := range kinds {
			if round < len(byKind[kind]) && len(out) < steps {
				data, err := os.ReadFile(paths[byKind[kind][round]])
				if err != nil {
					return nil, err
				}
				out = append(out, source{path: byKind[kind][round], lines: strings.Split(strings.TrimRight(string(data), "\n"), "\n")})
			}
		}
		if len(out) == before {
			return nil, fmt.Errorf("the folders of sources have %d files of about %d bytes, and the work needs %d", len(out), size, steps)
		}
	}
	drawLines(out)
	return out, nil
}

// drawLines finds the lines that may be asked for: in function bodies and data, long
// enough to mean something, and in one place only.
func drawLines(files []source) {
	count := map[string]int{}
	for i := range files {
		for _, line := range files[i].lines {
			count[strings.TrimSpace(line)]++
		}
	}
	for i := range files {
		f := &files[i]
		for _, line := range f.lines {
			text := strings.TrimSpace(line)
			inside := strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "  ")
			comment := strings.HasPrefix(text, commentSign(f.path)) || strings.HasPrefix(text, "*") || strings.HasPrefix(text, "/*")
			if inside && !comment && count[text] == 1 && len(text) >= 24 && len(text) <= 160 && strings.IndexByte(text, '\t') < 0 {
				f.draws = append(f.draws, text)
			}
		}
	}
}

// plantNeed draws what file n needs, and writes it into the file that it stands in.
func plantNeed(r *rand.Rand, files []source, n int) need {
	u := need{kind: factLine}
	if n%2 == 0 {
		u.kind = factKind(n / 2 % int(factLine))
	}
	var f *source
	for range 100 { // some files have no such fact: Go's signatures have no defaults
		u.lag = nearLag
		if r.IntN(4) > 0 && n > nearLag+1 {
			u.lag += 1 + r.IntN(min(farLag, n-1)-nearLag)
		}
		u.from = n - u.lag
		f = &files[u.from-1]
		if u.kind == factDefault && filepath.Ext(f.path) != ".go" || u.kind == factLine && len(f.draws) > 0 || u.kind != factDefault && u.kind != factLine {
			break
		}
	}
	if u.kind == factLine && len(f.draws) > 0 {
		at := r.IntN(len(f.draws))
		u.name = f.draws[at]
		f.draws = slices.Delete(f.draws, at, at+1)
		return u
	}
	if u.kind == factLine || u.kind == factDefault && filepath.Ext(f.path) == ".go" {
		u.kind = factConstant
	}
	noun, verb := words[r.IntN(len(words))], []string{"renew", "flush", "probe", "drain"}[r.IntN(4)]
	u.name = fmt.Sprintf("%s_%s_%d", verb, noun, n)
	if filepath.Ext(f.path) == ".go" {
		u.name = fmt.Sprintf("%s%s%d", verb, strings.ToUpper(noun[:1])+noun[1:], n)
	}
	u.value = fmt.Sprint(100_000 + r.IntN(899_999))
	if u.kind == factPath {
		u.value = fmt.Sprintf("/var/lib/%s/%s/index.db", noun, u.value)
	}
	if u.kind == factDecision {
		return u
	}
	f.insertLines(r, plantedLines(f.path, u, noun))
	return u
}

// insertLines puts lines between two blocks of a file, where a line at its margin
// follows an empty one.
func (f *source) insertLines(r *rand.Rand, lines []string) {
	at := []int{len(f.lines)}
	for i := len(f.lines) / 8; i+1 < len(f.lines); i++ {
		if next := f.lines[i+1]; f.lines[i] == "" && next != "" && next[0] != ' ' && next[0] != '\t' {
			at = append(at, i)
		}
	}
	f.lines = slices.Insert(f.lines, at[r.IntN(len(at))], append([]string{""}, lines...)...)
}

// commentSign returns how a comment begins in the language of a file; "" for a file
// that is not source.
func commentSign(path string) string {
	switch filepath.Ext(path) {
	case ".go", ".js", ".mjs", ".ts":
		return "//"
	case ".py":
		return "#"
	}
	return ""
}

// plantedLines says a fact as its language says it.
func plantedLines(path string, u need, noun string) []string {
	language := filepath.Ext(path)
	switch u.kind {
	case factComment:
		return []string{
			commentSign(path) + " The " + noun + " is looked after by " + u.name + " in the background, which keeps",
			commentSign(path) + " " + u.name + " below " + u.value + " entries since the outage; more would block readers.",
		}
	case factPath:
		return []string{map[string]string{".go": "var ", ".py": ""}[language] + declarationWord(language) + u.name + ` = "` + u.value + `"`}
	case factDefault:
		if language == ".py" {
			return []string{"def " + u.name + "(source, limit=" + u.value + ", strict=False):", "    return source if strict else limit"}
		}
		return []string{"function " + u.name + "(source, limit = " + u.value + ", strict = false) {", "  return strict ? source : limit", "}"}
	}
	return []string{map[string]string{".go": "const "}[language] + declarationWord(language) + u.name + " = " + u.value}
}

// declarationWord returns the word before a new name, of the languages that have one for all.
func declarationWord(language string) string {
	if language == ".js" || language == ".mjs" || language == ".ts" {
		return "const "
	}
	return ""
}
