package app

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/app/agents"
	"github.com/winnow-llm/winnow/internal/app/show"
)

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
	if !ok {
		return a.printStatus(name, nil)
	}
	doc, err := a.measureFile(cmd, &f, mf)
	if err != nil {
		return a.printStatus(name, nil)
	}
	return a.printStatus(cmp.Or(name, doc.Model), doc)
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
