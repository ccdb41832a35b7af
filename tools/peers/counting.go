package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pkoukk/tiktoken-go"
	tiktoken_loader "github.com/pkoukk/tiktoken-go-loader"
	"github.com/tiktoken-go/tokenizer"
	"github.com/winnow-llm/winnow/internal/app/demo"
	"github.com/winnow-llm/winnow/internal/o200k"
	"github.com/winnow-llm/winnow/token"
)

// exactPeers are the tokenizers that know the o200k vocabulary.
func exactPeers(n *node, file, text string, expect int) ([]contender, error) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return nil, err
	}
	tiktoken.SetBpeLoader(tiktoken_loader.NewOfflineLoader())
	tk, err := tiktoken.GetEncoding("o200k_base")
	if err != nil {
		return nil, err
	}
	check := func(got int) error {
		if got != expect {
			return fmt.Errorf("failed: %d tokens instead of %d", got, expect)
		}
		return nil
	}
	peers := []contender{
		{"tiktoken-go/tokenizer 0.10 (Go)", func() (float64, error) {
			return timed(1, func() error {
				got, err := codec.Count(text)
				if err != nil {
					return err
				}
				return check(got)
			})
		}},
		{"pkoukk/tiktoken-go 0.1.8 (Go)", func() (float64, error) {
			return timed(1, func() error { return check(len(tk.EncodeOrdinary(text))) })
		}},
	}
	for _, lib := range []string{"gpt-tokenizer", "js-tiktoken", "tiktoken"} {
		peers = append(peers, contender{lib + " (Node)", func() (float64, error) {
			r, err := n.do(nodeJob{Op: "count", Lib: lib, File: file})
			if err != nil {
				return 0, err
			}
			return r.MS, check(r.Value)
		}})
	}
	return peers, nil
}

// perSecond turns milliseconds for a text into megabytes per second.
func perSecond(size int, c contender) contender {
	return contender{c.name, func() (float64, error) {
		ms, err := c.run()
		return float64(size) / 1e6 / (ms / 1e3), err
	}}
}

func counting(b *bench) error {
	dir, err := b.temp()
	if err != nil {
		return err
	}
	text := conversation()
	file := filepath.Join(dir, "text")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	peers, err := exactPeers(b.node, file, text, o200k.Count(text))
	if err != nil {
		return err
	}
	for i := range peers {
		peers[i] = perSecond(len(text), peers[i])
	}
	exact := perSecond(len(text), contender{"", func() (float64, error) {
		return timed(2, func() error { o200k.Count(text); return nil })
	}})
	if err := b.compare("exact count (o200k) of a conversation", "MB/s", true, 60, exact.run, peers...); err != nil {
		return err
	}
	counter := token.New(token.O200K, nil)
	table := perSecond(len(text), contender{"", func() (float64, error) {
		return timed(20, func() error { counter.Text(text); return nil })
	}})
	return b.compare("count by table", "MB/s", true, 800, table.run)
}

// conversation returns the words of a long session: prose, code, tool output.
func conversation() string {
	var s strings.Builder
	for _, m := range demo.Request().History.All() {
		for _, p := range m.Parts {
			s.WriteString(p.Text)
			s.WriteByte('\n')
		}
	}
	return s.String()
}

// countingErrors compares the table and the rule of four characters to a token
// with the true counts of texts, class by class.
func countingErrors(b *bench) error {
	dir := cmp.Or(os.Getenv("WINNOW_CORPUS"), filepath.Join("..", "..", "..", "shared"))
	f, err := os.Open(filepath.Join(dir, "tokens", "counted.jsonl"))
	if err != nil {
		b.notes = append(b.notes, "Errors of counting were not measured: there are no counted texts at hand (WINNOW_CORPUS).")
		return nil
	}
	defer f.Close()
	var classes []string
	ours, chars := make(map[string][]float64), make(map[string][]float64)
	counter := token.New(token.O200K, nil)
	in := bufio.NewScanner(f)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var t struct {
			Class, Text string
			Tokens      map[string]int
		}
		if err := json.Unmarshal(in.Bytes(), &t); err != nil {
			return err
		}
		if !slices.Contains(classes, t.Class) {
			classes = append(classes, t.Class)
		}
		want := float64(t.Tokens["o200k"])
		ours[t.Class] = append(ours[t.Class], 100*math.Abs(float64(counter.Text(t.Text))-want)/want)
		chars[t.Class] = append(chars[t.Class], 100*math.Abs(float64((len(t.Text)+3)/4)-want)/want)
	}
	slices.Sort(classes)
	var all, allChars []float64
	for _, c := range classes {
		b.rows = append(b.rows, row{"table: mean error, " + c, "%", false, 0, []figure{{value: mean(ours[c])}, {name: "characters / 4", value: mean(chars[c])}}})
		all, allChars = append(all, ours[c]...), append(allChars, chars[c]...)
	}
	b.rows = append(b.rows, row{"table: mean error, all classes", "%", false, 0, []figure{{value: mean(all)}, {name: "characters / 4", value: mean(allChars)}}})
	return in.Err()
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// worst counts texts that make tokenizers slow. They are short, because some
// peers need time in proportion to the square of the length.
func worst(b *bench) error {
	const size = 3_000
	dir, err := b.temp()
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(1, 2))
	letters := make([]byte, size)
	for i := range letters {
		letters[i] = byte('a' + r.IntN(26))
	}
	texts := []struct{ name, text string }{
		{"one letter", strings.Repeat("a", size)},
		{"blanks", strings.Repeat(" ", size)},
		{"random letters", string(letters)},
		{"ideographs", strings.Repeat("中", size/3)},
		{"emoji", strings.Repeat("😀", size/4)},
	}
	rounds := b.rounds
	b.rounds = min(rounds, 2)
	defer func() { b.rounds = rounds }()
	for i, t := range texts {
		file := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(file, []byte(t.text), 0o600); err != nil {
			return err
		}
		peers, err := exactPeers(b.node, file, t.text, o200k.Count(t.text))
		if err != nil {
			return err
		}
		ours := func() (float64, error) {
			return timed(1, func() error { o200k.Count(t.text); return nil })
		}
		if err := b.compare("exact count, worst case: 3 KB of "+t.name, "ms", false, 0, ours, peers...); err != nil {
			return err
		}
	}
	return nil
}
