package replay

import (
	"fmt"
	"io"
	"strings"

	"github.com/winnow-llm/winnow/internal/text"
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
	p.say("Rows with * have a stand-in for an LLM that keeps entities at measured rates: they are simulated.")
	p.say("Presence is not understanding: what stands in the context may still be overlooked, and what is gone may be read again.")
	p.say("The package comment of `replay` defines every figure.\n")
	p.table("## What is asked for", b.barGrid())
	p.table(fmt.Sprintf("## What survives a cut\n\n%d cuts; demanded: %s entities, %s pairs, %s words, %s sentences of users. The last column is where 95 of 100 resamplings of the sessions put the mean.",
		b.Cuts, text.Number(b.Demand.E.Of), text.Number(b.Demand.P.Of), text.Number(b.Demand.W.Of), text.Number(b.Demand.C.Of)), b.cutGrid(All))
	p.table("## Recorded compactions\n\nThe client's own summary and ours of the same size, asked for what stands before the newest 8,000 tokens. The agent could only go on with what the client's summary held, which favours the client; where its summary was short the figures are coarse.", b.eventGrid())
	for _, window := range b.Windows {
		p.table(fmt.Sprintf("## Whole sessions in a window of %s tokens\n\n%d sessions that reach %.0f %% of the window. Invalid: rewrites that break a rule which the recorded session keeps, before any repair. Timed: with the gaps that timestamps show and the cache's lifetime. Waited: %s for each LLM summary, the median in the field.",
			text.Number(window), b.Replayed, 100*b.Trigger, llmBlocks), b.replayGrid(All, window))
	}
	p.table("## When to compact\n\nMeans over generated sessions: 400 requests, 2,500 tokens of growth each, 600 of them the answer, 25,000 tokens of fixed prompt, in a window of a million tokens. The commit point is computed from prices, growth and cold requests.", b.costGrid())
	p.say("%s", howPlayed)
	return p.err
}

// howPlayed says what the rows of the peers rest on.
const howPlayed = `## How the policies are played

Everybody compacts at the same share of the window and is measured with the same counter, so that rows differ in what is
done. Our presets know the prices of the first model: they rewrite sooner where that pays, and one request later where
large results have just come in. A request larger than the window is refused: it has neither hits nor misses and counts as an
overflow, so a row with many overflows is measured on the easier requests only.

| policy | what it does, as its authors document it |
|---|---|
| winnow, thrifty, careful | the engine with its presets, exactly as the library has them; no LLM. The column timed is of a second run that tells the engine how long each pause was |
| shipped | the engine when nothing is set, as the library, the gateway and sessions run it then; the window and where to start are the replay's |
| sliding window | drops the oldest messages until half of the window is left |
| picoclaw | drops the older half of the turns; a single turn stays, however long |
| umbra | all but three exchanges of the current turn become a list of calls, then old messages go one by one; nothing is remembered between requests |
| neurolink | prune (40,000 tokens of tool output protected, 20,000 must be saved; less in proportion in windows below 128,000, where the two could never apply), deduplicate reads, with an LLM summarise all but 30 % of the messages, slide the window |
| pi | keeps the newest 16,384 tokens; an LLM updates its summary of the rest from text that no cache has |
| opencode | prunes tool output at turn ends; an LLM summarises everything when that is not enough, at the end of the conversation: what was sent before is read from the cache, which is kinder than its default mode, what came since is not |
| codex | keeps the user's messages and an LLM's summary of everything |
| masking | replaces all but the newest 10 tool results, at every step or when the window fills |
| bag, random, oracle | a bare list of names, random lines, and one who knows the future, each in an eighth of the window with a tail of an eighth |
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

func (p *page) table(title string, g grid) {
	if len(g.rows) == 0 || p.err != nil {
		return
	}
	p.say("%s\n", title)
	if p.err == nil {
		p.err = g.markdown(p.w)
	}
	p.say("")
}
