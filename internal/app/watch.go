package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/agents"
	"github.com/winnow-llm/winnow/internal/app/follow"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/internal/app/termsafe"
	"github.com/winnow-llm/winnow/internal/budget"
)

func (a *app) watchCommand() *cobra.Command {
	var mf modelFlags
	var statusline, once bool
	cmd := newCommand("watch [FILE|AGENT]", "Show how full a running agent's session is, live", `
  winnow watch
  winnow watch claude
  winnow watch ~/.codex/sessions/2026/11/16/rollout-….jsonl --json

Follows the newest session on this machine, the newest one of AGENT (claude, codex,
pi, opencode or gemini), or FILE, and shows how full its window is each time the
agent adds to it, until Ctrl-C. In a terminal it redraws the meter in place;
elsewhere it prints a line for each change, or with --json a JSON document per line.
The numbers are those of winnow check. Nothing is written, and nothing leaves the
machine.

--statusline prints one line and exits, for agents that have a status line. It reads
the JSON that Claude Code sends on standard input. Put this into
~/.claude/settings.json:

  {"statusLine": {"type": "command", "command": "winnow watch --statusline"}}`,
		cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
			of := ""
			if len(args) == 1 {
				of = args[0]
			}
			if statusline {
				return a.statusLine(cmd, of, &mf)
			}
			return a.watchSession(cmd, of, &mf, once)
		})
	cmd.Flags().BoolVar(&statusline, "statusline", false, "print one line for an agent's status line, and exit")
	cmd.Flags().BoolVar(&once, "once", false, "show the session as it is now, and exit")
	mf.addTo(cmd)
	return cmd
}

// watched is the JSON document of watch, one on a line.
type watched struct {
	File     string `json:"file"`
	Format   string `json:"format"`
	Model    string `json:"model"`
	Messages int    `json:"messages"`
	Turns    int    `json:"turns"`

	// Tokens is what the agent would send next, Available what it can send.
	Tokens    int     `json:"tokens"`
	Available int     `json:"available"`
	Window    int     `json:"window"`
	Share     float64 `json:"share"`

	// CompactAt is the count from which on winnow would compact.
	CompactAt int  `json:"compact_at"`
	Compact   bool `json:"should_compact"`
	Fits      bool `json:"fits"`

	// Compactions is how often the agent compacted the session itself.
	Compactions int `json:"compactions"`

	// Growth is how many tokens each of the last requests added, RequestsLeft how
	// many more such requests there are before CompactAt; nil where nobody knows.
	Growth       int  `json:"growth"`
	RequestsLeft *int `json:"requests_left"`

	kinds show.Spent
}

// watchSession follows a session until the context ends.
func (a *app) watchSession(cmd *cobra.Command, of string, mf *modelFlags, once bool) error {
	ctx := cmd.Context()
	find, err := a.watchTarget(of)
	if err != nil {
		return err
	}
	if once {
		f, err := find(ctx)
		if err != nil {
			return err
		}
		doc, err := a.measureFile(&f, mf)
		if err != nil {
			return err
		}
		return a.showWatched(doc, nil)
	}
	var screen *frame
	if isTerminal(a.stdout) && !a.asJSON && a.getenv("TERM") != "dumb" {
		screen = &frame{out: fileOf(a.stdout)}
	}
	var at agents.File
	return follow.Sessions(ctx, func(ctx context.Context) (string, error) {
		f, err := find(ctx)
		if err == nil {
			at = f
		}
		return f.OnDisk(), err
	}, func(string) error {
		doc, err := a.measureFile(&at, mf)
		if err != nil {
			// A session whose first record is half written is read at the next change.
			if screen == nil {
				a.sayOnce(oneLine(err.Error()))
			}
			return nil
		}
		return a.showWatched(doc, screen)
	})
}

// watchTarget returns what finds the session to follow.
func (a *app) watchTarget(of string) (func(context.Context) (agents.File, error), error) {
	all := agents.Known(a.homeDir(), a.getenv)
	if of != "" {
		if info, err := os.Stat(of); err == nil {
			if info.IsDir() {
				all = []agents.Agent{agents.Named(of)}
			} else {
				return func(context.Context) (agents.File, error) { return agents.File{Path: of}, nil }, nil
			}
		} else if g, wrong := knownSessions(all, of); wrong == nil {
			all = []agents.Agent{g}
		} else if strings.ContainsAny(of, `/\.`) {
			return nil, fmt.Errorf("%s: there is no such file; name a session file, or an agent such as claude", of)
		} else {
			return nil, wrong
		}
	}
	return func(ctx context.Context) (agents.File, error) {
		f, _, ok, err := agents.Newest(ctx, all)
		if err == nil && !ok {
			err = fmt.Errorf("there is no session yet in %s; start the agent first, or name a file", a.shortPath(all[0].Dirs[0]))
			if len(all) > 1 {
				err = fmt.Errorf("no agent on this machine has left a session; winnow insights lists the folders that are searched; name a file instead, or try winnow demo --out session.json")
			}
		}
		return f, err
	}, nil
}

// measureFile measures the last session in a file.
func (a *app) measureFile(f *agents.File, mf *modelFlags) (*watched, error) {
	in, err := a.quietly().sessionInput(f, "")
	if err != nil {
		return nil, err
	}
	l, err := a.loadSettings()
	if err != nil {
		return nil, err
	}
	s := &in.Sessions[0]
	w, err := l.engineFor(mf, s)
	if err != nil {
		return nil, err
	}
	status, err := w.Check(s.Request, s.Known(w))
	if err != nil {
		return nil, err
	}
	d := &watched{
		File: f.Path, Format: string(s.Format), Model: l.Model, Messages: s.Request.History.Len(), Turns: len(chat.Boundaries(s.Request.History)),
		Tokens: status.Tokens.Total, Available: status.Limits.Available, Window: status.Limits.Context,
		Compact: status.ShouldCompact, Fits: status.Fits, Compactions: len(s.Compactions),
	}
	d.kinds, _ = show.Spend(w.Meter(), show.Whole(s.Request.History), &status, 0)
	d.CompactAt, _ = status.Due()
	if o := ownCompactions(w.Meter(), s, lastUsage(s.Request.History)); o != nil {
		// The agent sends less than the file holds, so the kinds are not known.
		d.Tokens, d.Compact, d.Fits = o.Sent, o.Sent >= d.CompactAt, o.Sent <= d.Available
		d.kinds = show.Spent{Kinds: budget.Kinds{User: o.Sent}, Free: max(0, d.Available-o.Sent), Reserve: d.Window - d.Available}
	}
	d.Share = show.Ratio(d.Tokens, d.Available)
	d.estimateGrowth(w.Meter(), s)
	return d, nil
}

// estimateGrowth estimates from what the last requests added how many more there will be.
func (d *watched) estimateGrowth(m *budget.Meter, s *source.Session) {
	from := 0
	if n := len(s.Compactions); n > 0 {
		from = s.Compactions[n-1].At
	}
	requests, added, h := 0, 0, s.Request.History
	for i := h.Len() - 1; i >= from; i-- {
		if h.At(i).Role == chat.Assistant {
			if requests++; requests > recentRequests {
				break
			}
		}
		added += m.Counter().Message(h.At(i))
	}
	if requests = min(requests, recentRequests); requests < 2 {
		return
	}
	if d.Growth = added / requests; d.Growth > 0 {
		d.RequestsLeft = new(max(0, d.CompactAt-d.Tokens) / d.Growth)
	}
}

// recentRequests is over how many requests growth is measured.
const recentRequests = 10

// showWatched prints one measurement; a frame draws it in place of the last.
func (a *app) showWatched(d *watched, screen *frame) error {
	if a.asJSON {
		data, err := json.Marshal(d)
		if err != nil {
			return err
		}
		_, err = a.dataWriter().Write(append(data, '\n'))
		return err
	}
	st := a.styleFor(a.stdout)
	if screen == nil {
		_, err := fmt.Fprintf(a.stdout, "%s  %s  %s\n", time.Now().Format("15:04:05"), a.shortPath(d.File), d.text())
		return err
	}
	name := fmt.Sprintf("%s  %s", d.Format, a.shortPath(d.File))
	model := fmt.Sprintf("%s, %s, %s", cmp.Or(d.Model, "unknown model"), plural(d.Messages, "message"), plural(d.Turns, "turn"))
	if d.Compactions > 0 {
		model += ", compacted by the agent " + plural(d.Compactions, "time")
	}
	width := st.Columns() - 1
	return screen.draw(
		st.Bold(brief(name, width)), brief(model, width),
		"["+st.Fill(d.kinds, max(d.Window, d.kinds.Sum()+d.kinds.Reserve, 1), min(width-2, 100))+"]",
		verdictShare(st, d)+brief(d.text(), width), st.Dim("Ctrl-C ends"),
	)
}

// verdictShare colours nothing but what needs attention.
func verdictShare(st style, d *watched) string {
	switch {
	case !d.Fits:
		return st.Red("over  ")
	case d.Compact:
		return st.Warm("due  ")
	}
	return ""
}

// text returns a measurement in words.
func (d *watched) text() string {
	s := fmt.Sprintf("%s of %s tokens, %s", number(d.Tokens), number(d.Available), show.Percent(d.Tokens, d.Available))
	switch {
	case !d.Fits:
		return s + ": it does not fit"
	case d.Tokens >= d.CompactAt:
		return s + fmt.Sprintf(": compaction has been due since %s", number(d.CompactAt))
	case d.RequestsLeft != nil && *d.RequestsLeft < 1000:
		return s + fmt.Sprintf("; compaction from %s, in about %s", number(d.CompactAt), plural(*d.RequestsLeft, "request"))
	}
	return s + "; compaction from " + number(d.CompactAt)
}

// frame is a few lines of a terminal that are drawn anew in their place.
type frame struct {
	out   *os.File
	lines int
}

func (f *frame) draw(lines ...string) error {
	var b strings.Builder
	if f.lines > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", f.lines)
	}
	b.WriteString("\r\x1b[J")
	for _, l := range lines {
		b.WriteString(termsafe.Text(l) + "\r\n")
	}
	f.lines = len(lines)
	_, err := f.out.WriteString(b.String())
	return err
}

// statusInput is what Claude Code tells a status line on standard input. What an
// older version leaves out is read from the session file.
type statusInput struct {
	Transcript string `json:"transcript_path"`
	Model      struct {
		ID   string `json:"id"`
		Name string `json:"display_name"`
	} `json:"model"`
}

// statusLine prints one line about a session. It never fails: an agent would show
// nothing at all then.
func (a *app) statusLine(cmd *cobra.Command, of string, mf *modelFlags) error {
	f, name, ok := a.statusTarget(cmd, of)
	if ok {
		if doc, err := a.measureFile(&f, mf); err == nil {
			return a.printStatus(cmp.Or(name, doc.Model), doc)
		}
	}
	return a.printStatus(name, nil)
}

// statusTarget finds the session: what the agent names on standard input, what the
// argument names, else the newest.
func (a *app) statusTarget(cmd *cobra.Command, of string) (f agents.File, name string, ok bool) {
	var in statusInput
	if a.terminalInput() == nil {
		data, err := io.ReadAll(io.LimitReader(a.stdin, 1<<20))
		if err == nil {
			_ = json.Unmarshal(data, &in) // not from Claude Code: the newest session then
		}
	}
	name = in.Model.Name
	if in.Transcript != "" && of == "" {
		_, err := os.Stat(in.Transcript)
		return agents.File{Path: in.Transcript}, name, err == nil
	}
	find, err := a.watchTarget(of)
	if err != nil {
		return f, name, false
	}
	f, err = find(cmd.Context())
	return f, name, err == nil
}

// printStatus prints the line; without a document for a session that has no
// message yet.
func (a *app) printStatus(name string, d *watched) error {
	if a.asJSON {
		if d == nil {
			d = &watched{}
		}
		return a.showWatched(d, nil)
	}
	line := "no messages yet"
	if d != nil {
		const cells = 20
		full := min(cells, max(0, d.Tokens)*cells/max(d.Available, 1))
		due := min(cells-1, d.CompactAt*cells/max(d.Available, 1))
		bar := []byte(strings.Repeat("#", full) + strings.Repeat(".", cells-full))
		if bar[due] == '.' {
			bar[due] = '|'
		}
		line = fmt.Sprintf("[%s] %s of %s, %s", bar, show.Thousands(d.Tokens), show.Thousands(d.Available), show.Percent(d.Tokens, d.Available))
		switch {
		case !d.Fits:
			line += ", does not fit"
		case d.Compact || d.Tokens >= d.CompactAt:
			line += ", compaction is due"
		case d.RequestsLeft != nil && *d.RequestsLeft < 100:
			line += fmt.Sprintf(", ~%s to compaction", plural(*d.RequestsLeft, "request"))
		}
	}
	if name != "" {
		line = name + " " + line
	}
	_, err := fmt.Fprintln(a.stdout, line)
	return err
}
