// Command tablefit makes the boundary tables of package token.
//
// It starts from tables that were trained on tokenized text (FAMILY.tri64.bin),
// takes long numbers out of those whose tokenizer splits digits in threes, since
// the package counts them exactly, and then corrects each table so that its sums
// agree with texts whose true counts are known. The correction is one number
// for each of some thousand groups of entries, found by ridge regression, so it
// mends what is wrong everywhere and cannot learn single texts.
// Beside the tables it writes how o200k spells each character, and which
// neighbours it has together in a token.
//
// The data it reads is not part of the repository; see internal/kit/corpus. Run it
// with go generate in package token.
package main

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/internal/o200k"
	"github.com/winnow-llm/winnow/token/internal/boundary"
)

// source says what a family's table is made from.
type source struct {
	family, from string

	// other is the most likely number of tokens per byte of the scripts that
	// are in no training text: Arabic, Hebrew, Thai, Indic and so on. Measured
	// with the vocabularies of o200k and cl100k, which the others lie between;
	// all are rather high.
	other float64
}

var sources = []source{
	{"o200k", "o200k", 0.20},
	{"cl100k", "llama3", 0.55},
	{"llama3", "llama3", 0.42},
	{"gemma3", "gemma3", 0.25},
	{"tekken", "tekken", 0.30},
	{"qwen3", "qwen3", 0.42},
	{"deepseek3", "deepseek3", 0.42},
	{"claude2", "claude2", 0.60},
}

// What Claude's models charge, relative to the tables: up to 4.6 as o200k
// times 1.14 or the old public vocabulary times 1.10, later as o200k times 1.56.
const (
	claudeByO200K  = 1.14
	claudeByOld    = 1.10
	claude5ByO200K = 1.56
)

func main() {
	out := flag.String("out", "tables", "folder to write the tables to")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "tablefit:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	dir, ok := corpus.Path()
	if !ok {
		return fmt.Errorf("no corpus at %s: set WINNOW_CORPUS to its folder", dir)
	}
	dir = filepath.Join(dir, "tokens")
	texts, err := readTexts(filepath.Join(dir, "counted.jsonl"))
	if err != nil {
		return err
	}
	seen, err := readSeen(filepath.Join(dir, "..", "sessions"), texts)
	if err != nil {
		return err
	}
	made := map[string]*boundary.Table{}
	for _, s := range sources {
		raw, err := os.ReadFile(filepath.Join(dir, s.from+".tri64.bin"))
		if err != nil {
			return err
		}
		t := new(boundary.Table)
		if len(raw) != len(t) {
			return fmt.Errorf("%s.tri64.bin has %d bytes, not %d", s.from, len(raw), len(t))
		}
		for i, b := range raw {
			t[i] = boundary.Entry(float64(b) / 255)
		}
		if boundary.DigitsInThrees(s.family) {
			t.ClearDigits()
		}
		t = correctTable(t, texts, s.family)
		t.SetOtherScripts(s.other)
		setUnseen(t, seen)
		t.SetRepeats()
		made[s.family] = t
	}
	made["claude"] = claudeTable(made)
	made["unknown"] = unknownTable(made)
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for family, t := range made {
		if err := writeCompressed(filepath.Join(out, family+".flate"), t[:]); err != nil {
			return err
		}
	}
	joins := new(boundary.Joins) // which neighbours stand together in a token of o200k
	o200k.Tokens(joins.Add)
	if err := writeCompressed(filepath.Join(out, "joins.flate"), joins[:]); err != nil {
		return err
	}
	return writeCompressed(filepath.Join(out, "runes.flate"), buildRunes()[:])
}

// buildRunes says how o200k spells the characters of the first two planes.
func buildRunes() *boundary.Runes {
	set := new(boundary.Runes)
	for r := rune(utf8.RuneSelf); r < 1<<17; r++ {
		one := string(r) // U+FFFD for what is not a character
		switch n := o200k.Count(one); {
		case n == 1 && o200k.Count(strings.Repeat(one, 4)) == 1:
			set.Set(r, boundary.Joined)
		case n == 1:
			set.Set(r, boundary.Single)
		case n == 2:
			set.Set(r, boundary.Double)
		default:
			set.Set(r, boundary.Spelled)
		}
	}
	return set
}

// claudeTable returns o200k's table for ASCII and the old Claude's for the rest,
// where the two vocabularies have least in common.
func claudeTable(made map[string]*boundary.Table) *boundary.Table {
	t, old := *made["o200k"], made["claude2"]
	for i := range t {
		if !boundary.ASCII(i) {
			t[i] = scaleEntry(old[i], claudeByOld/claudeByO200K)
		}
	}
	return &t
}

// unknownTable returns the table of the greediest family, o200k's for Claude 5, with the
// largest entry of all families where another one may be greedier still: digits,
// which some take one by one, and what is not ASCII. (The largest entry
// everywhere would count a fifth more than any family does.)
func unknownTable(made map[string]*boundary.Table) *boundary.Table {
	t := *made["o200k"]
	for family, other := range made {
		scale := 1 / claude5ByO200K
		switch family {
		case "claude2":
			continue
		case "claude":
			scale *= claudeByO200K
		}
		for i := range t {
			if !boundary.ASCII(i) || boundary.Digit(i) {
				t[i] = max(t[i], scaleEntry(other[i], scale))
			}
		}
	}
	return &t
}

func scaleEntry(entry byte, by float64) byte { return boundary.Entry(boundary.Likelihood(entry) * by) }

func writeCompressed(path string, t []byte) error {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err == nil {
		_, err = w.Write(t)
		err = errors.Join(err, w.Close(), os.WriteFile(path, b.Bytes(), 0o644))
	}
	return err
}

// text is one with known counts.
type text struct {
	Text   string         `json:"text"`
	Tokens map[string]int `json:"tokens"`
}

func readTexts(path string) ([]text, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []text
	for d := json.NewDecoder(f); ; {
		var t text
		if err := d.Decode(&t); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, len(all)+1, err)
		}
		all = append(all, t)
	}
}

// setUnseen makes tokens start where no text has anything alike, neither one with
// a known count nor a session: such places are not words, but passwords, keys and
// encoded bytes, and a table knows nothing about them. The likelihoods are
// those of random characters.
func setUnseen(t, seen *boundary.Table) {
	for i := range t {
		switch {
		case seen[i] > 0 || !boundary.Inside(i) || boundary.Digit(i):
		case boundary.Lower(i):
			t[i] = max(t[i], boundary.Entry(randomLetters))
		default:
			t[i] = max(t[i], boundary.Entry(randomOthers))
		}
	}
}

// Tokens per byte of random letters, and of random printable characters.
const randomLetters, randomOthers = 0.5, 0.85
