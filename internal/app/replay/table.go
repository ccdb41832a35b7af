package replay

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/text"
)

// grid is a table: a heading and rows of cells. The first cells are text, those
// from right on are figures.
type grid struct {
	head  []string
	rows  [][]string
	right int
}

// section is a table of a board: its title, a short note for the screen and a long
// one for the page in Markdown.
type section struct {
	Title, Note, long string
	grid
}

// tableSections returns the tables of a board that have rows, in their order, with what is
// asked for among them or not.
func (b *Board) tableSections(bars bool) []section {
	var all []section
	add := func(g grid, title, note, long string) {
		if len(g.rows) > 0 {
			all = append(all, section{Title: title, Note: note, long: long, grid: g})
		}
	}
	if n := b.Next; n != nil {
		add(n.grid(), "Are the next edits ready?", n.about(), n.about()+". "+nextLong)
		add(n.besideGrid(), "What else the same views hold", "", besideLong)
	}
	for _, window := range b.Windows {
		add(b.replayGrid(window), fmt.Sprintf("Whole sessions in a window of %s tokens", text.Number(window)),
			fmt.Sprintf("%s, dollars of %s (* simulated LLM, † does not compete)", text.Plural(b.Replayed, "session"), b.Model),
			fmt.Sprintf(replayLong, b.Replayed, 100*b.Trigger, b.Model, llmBlocks))
	}
	if bars {
		add(barGrid(b.Bars()), "What is asked for", "", "")
	}
	return all
}

// replayGrid returns the table of whole sessions in one window: V right after rewrites,
// what it cost with re-reads, the time that was lost, and what was sent. Rows marked †
// have invalid views or overflows, and do not compete.
func (b *Board) replayGrid(window int) grid {
	g := grid{right: 1, head: []string{
		"policy", "V", "95 %", "tail", "naive", "with search", "stale", "in context", "re-reads", "$", "without", "lost", "view tokens",
		"cached", "rewrites", "LLM calls", "invalid", "overflows", "given up", "peak", "waited",
	}}
	for i := range b.Rows {
		r := &b.Rows[i]
		if r.File != All || r.Window != window {
			continue
		}
		name := r.Policy
		if r.Simulated {
			name += " *"
		}
		if !r.Competes {
			name += " †"
		}
		g.rows = append(g.rows, []string{
			name, twoDigits(r.EditsReady), r.ReadyBetween.String(), twoDigits(r.TailReady), twoDigits(r.NaiveReady), twoDigits(r.Recalled), threeDigits(r.Stale),
			twoDigits(r.InContext), text.Number(r.Rereads), fmt.Sprintf("%.2f", r.DollarsAgain), fmt.Sprintf("%.2f", r.Dollars), formatHours(r.LostMS), text.Number(r.ViewTokens),
			fmt.Sprintf("%.0f %%", 100*r.ReadShare()), text.Number(r.Rewrites), text.Number(r.LLMCalls), text.Number(r.Invalid), text.Number(r.Overflows), text.Number(r.Failed),
			text.Number(r.Peak), formatHours(r.BlockedMS),
		})
	}
	return g
}

// barGrid returns the table of what is asked for.
func barGrid(bars []Bar) grid {
	g := grid{head: []string{"what", "asked for", "measured", "met"}, right: 9}
	for _, bar := range bars {
		met := "no"
		if bar.Met {
			met = "yes"
		}
		g.rows = append(g.rows, []string{bar.What, bar.Want, bar.Got, met})
	}
	return g
}

// Table writes the board for a terminal.
func (b *Board) Table(w io.Writer) error {
	p := &page{w: w}
	for _, s := range b.tableSections(false) {
		p.say("%s", strings.TrimSpace(s.Title+" "+s.Note))
		p.put(s.writeText)
		p.say("")
	}
	return p.err
}

// writeText writes the table for a terminal.
func (g grid) writeText(w io.Writer) error {
	titles := slices.Clone(g.head)
	for i := range min(g.right, len(titles)) {
		titles[i] += "<" // words
	}
	var b bytes.Buffer
	show.Style{}.Table(&b, titles, g.rows)
	_, err := w.Write(b.Bytes())
	return err
}

// writeMarkdown writes the table as Markdown.
func (g grid) writeMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("| " + strings.Join(g.head, " | ") + " |\n|")
	for i := range g.head {
		if i >= g.right {
			b.WriteString("--:|")
		} else {
			b.WriteString("---|")
		}
	}
	b.WriteByte('\n')
	for _, r := range g.rows {
		b.WriteString("| " + strings.ReplaceAll(strings.Join(r, "\x00"), "|", "\\|") + " |\n")
	}
	_, err := io.WriteString(w, strings.ReplaceAll(b.String(), "\x00", " | "))
	return err
}

// twoDigits writes a share with two digits, and a dash for none.
func twoDigits(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", *x)
}

// formatHours writes how long agents waited.
func formatHours(ms int64) string {
	switch {
	case ms == 0:
		return "0"
	case ms < 3600_000:
		return fmt.Sprintf("%d min", ms/60_000)
	}
	return fmt.Sprintf("%.1f h", float64(ms)/3600_000)
}

// Made says when and from what a page was made.
type Made struct {
	Date, Commit, Command string
}

// Markdown writes the board as a page for people.
func (b *Board) Markdown(w io.Writer, m Made) error {
	p := &page{w: w}
	p.say("# Scoreboard\n")
	p.say("Made by `%s` on %s at commit %s. Do not edit: make it again.\n", m.Command, m.Date, m.Commit)
	p.say("Data: %d sessions, fingerprint `%s`. Tokens are counted with the o200k vocabulary's tables. Dollars are those of %s.",
		b.Sessions, b.Fingerprint, b.Model)
	p.say("Rows with * have a stand-in of the usual size for an LLM's summary: they are simulated.")
	p.say("Presence is not understanding: what stands in the context may still be overlooked, and what is gone may be read again.")
	p.say("The package comment of `replay` defines every figure.\n")
	for _, s := range b.tableSections(true) {
		p.table(strings.TrimSpace("## "+s.Title+"\n\n"+s.long), s.grid)
	}
	p.say("%s", howPlayed)
	return p.err
}

// What a reader of the tables should know.
const (
	nextLong   = "An edit is ready when its whole old text stands in one message of the view as one run, under its file's path, in the newest version that the view shows. The other columns are views of the same size: tail is the newest text; naive the newest parts about files, whole, then the newest text. Tokens are characters / 4. Differences are paired, with the range of 95 of 100 resamplings of the sessions: a difference counts if its lower end is above zero."
	besideLong = "V of the calls 31 to 100; V with one search in what is hidden; C: binding sentences of the user; stale: lines shown as current that the next read contradicts."
	replayLong = "%d sessions that reach %.0f %% of the window. V, tail and naive are the next edits ready in the views right after the first five rewrites of each session, and in views of the same size; with search: ready, or found by one search in what is hidden. In context: edits of the whole session whose old text was in the request. If it was not, the file is read again: one more request, and the text stays until the next rewrite. Dollars are those of %s, with re-reads and without. Lost: %s for each LLM summary and the session's median step for each re-read; waited: the summaries alone. View tokens: the mean right after a rewrite. Invalid: rewrites that break a rule which the recorded session keeps, before any repair. A row marked † has views that are invalid, or requests that overflow or were given up: it does not compete."
)

// howPlayed says what the rows of the peers rest on.
const howPlayed = `## How the policies are played

Everybody compacts at the same share of the window and is measured with the same counter, so that rows differ in what is
done. Our presets know the prices of the model: they rewrite sooner where that pays, and one request later where
large results have just come in. A request larger than the window is refused and counts as an overflow, so a row with many
overflows is measured on the easier requests only.

| policy | what it does, as its authors document it |
|---|---|
| winnow, thrifty | the engine when nothing is set, as the library, the gateway and sessions run it then, and with the preset thrifty; the window and where to start are the replay's; no LLM |
| sliding window | drops the oldest messages until half of the window is left |
| picoclaw | drops the older half of the turns; a single turn stays, however long |
| umbra | all but three exchanges of the current turn become a list of calls, then old messages go one by one; nothing is remembered between requests |
| neurolink | prune (40,000 tokens of tool output protected, 20,000 must be saved; less in proportion in windows below 128,000, where the two could never apply), deduplicate reads, with an LLM summarise all but 30 % of the messages, slide the window |
| pi | keeps the newest 16,384 tokens; an LLM updates its summary of the rest from text that no cache has |
| opencode | prunes tool output at turn ends; an LLM summarises everything when that is not enough, at the end of the conversation: what was sent before is read from the cache, which is kinder than its default mode, what came since is not |
| codex | keeps the user's messages and an LLM's summary of everything |
`

type page struct {
	w   io.Writer
	err error
}

func (p *page) say(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// put has something written.
func (p *page) put(write func(io.Writer) error) {
	if p.err == nil {
		p.err = write(p.w)
	}
}

func (p *page) table(title string, g grid) {
	if len(g.rows) == 0 {
		return
	}
	p.say("%s\n", title)
	p.put(g.writeMarkdown)
	p.say("")
}

// threeDigits writes a share with three digits, and a dash for none.
func threeDigits(x *float64) string {
	if x == nil {
		return "–"
	}
	return formatShare(*x)
}

// String writes both ends.
func (s *Span) String() string {
	if s == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f–%.2f", s[0], s[1])
}

// formatShare writes a share with three digits and no zero in front.
func formatShare(x float64) string {
	return strings.Replace(fmt.Sprintf("%.3f", x), "0.", ".", 1)
}
