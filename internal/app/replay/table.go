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

// section is a table with what stands above it: its title, and a short note for the screen
// or a long one for a page.
type section struct {
	title, note, long string
	grid
}

// sections returns the tables of the board in their order, what is asked for left out.
func (b *Board) sections() []section {
	var all []section
	if n := b.Next; n != nil {
		all = append(all, section{"Are the next edits ready?", n.about(), n.about() + ". " + nextLong, n.grid()},
			section{"What else the same views hold", "", besideLong, n.besideGrid()})
	}
	for _, window := range b.Windows {
		all = append(all, section{
			fmt.Sprintf("Whole sessions in a window of %s tokens", text.Number(window)),
			fmt.Sprintf("%s, dollars of %s (* simulated LLM, † does not compete)", text.Plural(b.Replayed, "session"), b.Model),
			fmt.Sprintf(replayLong, b.Replayed, 100*b.Trigger, b.Model, llmBlocks),
			b.replayGrid(window),
		})
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

// barSection returns the table of what is asked for; none where nothing is.
func barSection(bars []Bar) []section {
	g := grid{head: []string{"what", "asked for", "measured", "met"}, right: 9}
	for _, bar := range bars {
		met := "no"
		if bar.Met {
			met = "yes"
		}
		g.rows = append(g.rows, []string{bar.What, bar.Want, bar.Got, met})
	}
	if len(bars) == 0 {
		return nil
	}
	return []section{{title: "What is asked for", grid: g}}
}

// Table writes the board for a terminal.
func (b *Board) Table(w io.Writer) error { return writeSections(w, b.sections()) }

// writeSections writes tables for a terminal.
func writeSections(w io.Writer, all []section) error {
	var b bytes.Buffer
	for _, s := range all {
		fmt.Fprintln(&b, strings.TrimSpace(s.title+" "+s.note))
		if len(s.rows) > 0 {
			titles := slices.Clone(s.head)
			for i := range min(s.right, len(titles)) {
				titles[i] += "<" // words
			}
			show.Style{}.Table(&b, titles, s.rows)
		}
		b.WriteByte('\n')
	}
	_, err := w.Write(b.Bytes())
	return err
}

// writePage writes tables as a page in Markdown, with what it is about above them.
func writePage(w io.Writer, title, about string, m Made, all []section) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nMade by `%s` on %s at commit %s. Do not edit: make it again.\n\n%s\n\n", title, m.Command, m.Date, m.Commit, about)
	for i, s := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strings.TrimSpace("## "+s.title+"\n\n"+s.long) + "\n")
		if len(s.rows) > 0 {
			b.WriteByte('\n')
			s.writeMarkdown(&b)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeMarkdown writes the table as Markdown.
func (g grid) writeMarkdown(b *strings.Builder) {
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
		cells := strings.ReplaceAll(strings.Join(r, "\x00"), "|", "\\|")
		b.WriteString("| " + strings.ReplaceAll(cells, "\x00", " | ") + " |\n")
	}
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
	about := fmt.Sprintf(boardAbout, b.Sessions, b.Fingerprint, b.Model)
	all := append(b.sections(), barSection(b.Bars())...)
	return writePage(w, "Scoreboard", about, m, append(all, section{title: "How the policies are played", long: howPlayed}))
}

// What a reader of the tables should know.
const (
	boardAbout = "Data: %d sessions, fingerprint `%s`. Tokens are counted with the o200k vocabulary's tables. Dollars are those of %s.\n" +
		"Rows with * have a stand-in of the usual size for an LLM's summary: they are simulated.\n" +
		"Presence is not understanding: what stands in the context may still be overlooked, and what is gone may be read again.\n" +
		"The package comment of `replay` defines every figure."
	nextLong   = "An edit is ready when its whole old text stands in one message of the view as one run, under its file's path, in the newest version that the view shows. The other columns are views of the same size: tail is the newest text; naive the newest parts about files, whole, then the newest text. Tokens are characters / 4. Differences are paired, with the range of 95 of 100 resamplings of the sessions: a difference counts if its lower end is above zero."
	besideLong = "V of the calls 31 to 100; V with one search in what is hidden; C: binding sentences of the user; stale: lines shown as current that the next read contradicts."
	replayLong = "%d sessions that reach %.0f %% of the window. V, tail and naive are the next edits ready in the views right after the first five rewrites of each session, and in views of the same size; with search: ready, or found by one search in what is hidden. In context: edits of the whole session whose old text was in the request. If it was not, the file is read again: one more request, and the text stays until the next rewrite. Dollars are those of %s, with re-reads and without. Lost: %s for each LLM summary and the session's median step for each re-read; waited: the summaries alone. View tokens: the mean right after a rewrite. Invalid: rewrites that break a rule which the recorded session keeps, before any repair. A row marked † has views that are invalid, or requests that overflow or were given up: it does not compete."
)

// howPlayed says what the rows of the peers rest on.
const howPlayed = `Everybody compacts at the same share of the window and is measured with the same counter, so that rows differ in what is
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
