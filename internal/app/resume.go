package app

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/internal/agents/table"
	"github.com/winnow-llm/winnow/internal/app/agents"
	"github.com/winnow-llm/winnow/internal/app/resume"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transcript"
	"github.com/winnow-llm/winnow/wire"
)

// viewFormats is the help for --to.
const viewFormats = "`FORMAT` of the view: openai, responses, anthropic or gemini for a request; claude-code, codex or pi for a session that the agent can continue"

// isAgentFormat reports whether a format is that of an agent's own session files.
func isAgentFormat(to string) bool {
	return slices.Contains(resume.Formats(), transcript.Format(to))
}

// checkFormat refuses formats that views cannot be written in, and says what to
// do instead.
func checkFormat(to string) error {
	if to == "" || isAgentFormat(to) {
		return nil
	}
	if _, err := wire.ParseDialect(to); err == nil {
		return nil
	}
	if agent, ok := table.OfFormat(to); ok {
		return usageErrorf("--to %s: this agent cannot continue a session file from another program; use winnow wrap %s, which compacts while it runs, or --to openai for the messages", to, agent.Name)
	}
	return usageErrorf("--to %s: winnow cannot write this format; use openai, responses, anthropic or gemini for a request, or claude-code, codex or pi for a session that the agent can continue", to)
}

// renderView writes a view in the format that was asked for. For an agent's
// format it also notes how to go on, and chooses the agent's own place for the
// file where no other is named.
func (a *app) renderView(s *source.Session, v plan.View, o *outFlags) ([]byte, error) {
	if !isAgentFormat(o.to) {
		return s.Write(v, o.to)
	}
	format := transcript.Format(o.to)
	all := agents.Known(a.homeDir(), a.getenv)
	dir := all[slices.IndexFunc(all, func(g agents.Agent) bool { return g.Format == format })].Dirs[0]
	folder, err := a.workingFolder(s)
	if err != nil {
		return nil, err
	}
	// Every run makes a session of its own: the agent may have gone on with the last.
	now := time.Now()
	r, err := resume.New(format, v, fmt.Sprintf("%s\x00%s\x00%d", s.ID, v.Plan().ID(), now.UnixNano()))
	if err != nil {
		return nil, err
	}
	r.Folder, r.Provider, r.Model, r.Time = folder, agentProvider(s), s.Model, now
	place := r.Place(dir)
	data, err := r.Write()
	if err != nil {
		return nil, err
	}
	o.next = &show.Continued{Folder: folder}
	if o.out == "" {
		if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
			return nil, writeError(place, err)
		}
		o.out = place
	} else if format != transcript.Pi { // pi takes the path of any file
		o.next.Move = place
	}
	o.next.Command = r.Command(a.pathAsTyped(o.out))
	return data, nil
}

// workingFolder returns where the agent worked, or this folder where that is
// unknown or on another machine.
func (a *app) workingFolder(s *source.Session) (string, error) {
	if info, err := os.Stat(s.Folder); s.Folder != "" && err == nil && info.IsDir() {
		return s.Folder, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("the current folder cannot be found: %w; change to the folder that the agent works in", err)
	}
	if s.Folder != "" {
		a.say("the session's folder %s does not exist on this machine; the agent will work in %s", a.shortPath(s.Folder), a.shortPath(here))
	}
	return here, nil
}

// agentProvider returns the provider whose model answered, in pi's words.
func agentProvider(s *source.Session) string {
	m := model.Default().Lookup(s.Model)
	if s.Model == "" || m.Source == model.Fallback {
		m.Provider = ""
	}
	return cmp.Or(providerOf[s.Format], m.Provider)
}

// pathAsTyped returns a path as a person would type it here: relative to this folder or to
// the home folder where that is shorter, and quoted where the shell needs it.
func (a *app) pathAsTyped(path string) string {
	if path == "-" || path == "" {
		return path
	}
	best := path
	if here, err := os.Getwd(); err == nil && filepath.IsAbs(path) {
		if rel, err := filepath.Rel(here, path); err == nil && len(rel) < len(best) {
			best = rel
		}
	}
	if short := a.shortPath(path); len(short) < len(best) {
		best = short
	}
	return shellWord(best)
}

// shellWord quotes a word for a shell where it must be. A ~ in front stays outside.
func shellWord(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./,:=@%+~#", r) || r > 0x7f
	}
	if strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	front := ""
	if rest, ok := strings.CutPrefix(s, "~/"); ok {
		front, s = "~/", rest
	}
	return front + "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
