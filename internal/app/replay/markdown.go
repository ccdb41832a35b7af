package replay

import (
	"fmt"
	"io"
	"strings"
)

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
		b.Sessions, b.Fingerprint, strings.Join(b.Models, " and "))
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
	nextLong   = "An edit is ready when its whole old text stands in one message of the view as one run, under its file's path, in the newest version that the view shows. The other columns are views of the same size: tail is the newest text; naive the newest parts about files, whole, then the newest text; lines a heap of unique lines; oracle a view that knows the edits. Tokens are characters / 4. Differences are paired, with the range of 95 of 100 resamplings of the sessions: a difference counts if its lower end is above zero."
	besideLong = "V of the calls 31 to 100; V with one search in what is hidden; C: binding sentences of the user; last 3: cuts at which the last three exchanges are whole, where they fit into half of the view; stale: lines shown as current that the next read contradicts; bare lists: words of winnow's own text that stand in rows without a sentence."
	leadLong   = "%d sessions that reach %.0f %% of the window. V, tail and naive are the next edits ready in the views right after the first five rewrites of each session, and in views of the same size. In context: edits of the whole session whose old text was in the request. If it was not, the file is read again: one more request, and the text stays until the next rewrite. Dollars are with re-reads, and beside that without. Lost: %s for each LLM summary and the session's median step for each re-read. View tokens: the mean right after a rewrite. V after the second, third and fifth rewrite: of the next 30 calls. A number behind † counts views that are invalid and requests that overflow: such a row does not compete."
	replayLong = "%d sessions that reach %.0f %% of the window. Invalid: rewrites that break a rule which the recorded session keeps, before any repair. Timed: with the gaps that timestamps show and the cache's lifetime. Waited: %s for each LLM summary, the median in the field."
	costLong   = "Means over generated sessions: 400 requests, 2,500 tokens of growth each, 600 of them the answer, 25,000 tokens of fixed prompt, in a window of a million tokens. The commit point is computed from prices, growth and cold requests."
)

// howPlayed says what the rows of the peers rest on.
const howPlayed = `## How the policies are played

Everybody compacts at the same share of the window and is measured with the same counter, so that rows differ in what is
done. Our presets know the prices of the first model: they rewrite sooner where that pays, and one request later where
large results have just come in. A request larger than the window is refused and counts as an overflow, so a row with many
overflows is measured on the easier requests only.

| policy | what it does, as its authors document it |
|---|---|
| winnow, thrifty | the engine with its presets, exactly as the library has them; no LLM. The column timed is of a second run that tells the engine how long each pause was |
| shipped | the engine when nothing is set, as the library, the gateway and sessions run it then; the window and where to start are the replay's |
| sliding window | drops the oldest messages until half of the window is left |
| picoclaw | drops the older half of the turns; a single turn stays, however long |
| umbra | all but three exchanges of the current turn become a list of calls, then old messages go one by one; nothing is remembered between requests |
| neurolink | prune (40,000 tokens of tool output protected, 20,000 must be saved; less in proportion in windows below 128,000, where the two could never apply), deduplicate reads, with an LLM summarise all but 30 % of the messages, slide the window |
| pi | keeps the newest 16,384 tokens; an LLM updates its summary of the rest from text that no cache has |
| opencode | prunes tool output at turn ends; an LLM summarises everything when that is not enough, at the end of the conversation: what was sent before is read from the cache, which is kinder than its default mode, what came since is not |
| codex | keeps the user's messages and an LLM's summary of everything |
| masking | replaces all but the newest 10 tool results, at every step or when the window fills |
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
