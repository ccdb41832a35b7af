package resume

import (
	"cmp"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
	"github.com/winnow-llm/winnow/internal/pifile"
)

// writePi writes a header and one entry for each message, each the parent of the next.
func (s *Session) writePi() ([]byte, error) {
	header := jsonwrite.Of("type", pifile.TypeSession, "version", 3, "id", s.ID, "timestamp", formatTime(s.Time), "cwd", s.Folder)
	out := append(header, '\n')
	parent := ""
	used := map[string]bool{}
	add := func(d *pifile.Draft, at time.Time) {
		id := s.recordID(len(used))
		if !used[id[:8]] { // as pi does: short where that is nobody's
			id = id[:8]
		}
		used[id] = true
		out = append(append(out, d.Record(id, parent, at)...), '\n')
		parent = id
	}
	if s.Provider != "" && s.Model != "" {
		d := pifile.NewDraft(pifile.TypeModelChange, "provider", s.Provider, "modelId", s.Model)
		add(&d, s.Time)
	}
	names := map[string]string{}
	for i := range s.messages {
		m := s.messages[i]
		if m.Time <= 0 {
			m.Time = s.Time.UnixMilli()
		}
		m.Parts = nameResults(m.Parts, names)
		for _, d := range pifile.MessageDrafts(&m, pifile.Origin{Provider: s.Provider, Model: s.Model}) {
			add(&d, time.UnixMilli(m.Time))
		}
	}
	return out, nil
}

// nameResults gives results the names of the tools that were called, which pi wants
// and most formats leave out.
func nameResults(parts []chat.Part, names map[string]string) []chat.Part {
	out := append([]chat.Part(nil), parts...)
	for i := range out {
		switch p := &out[i]; p.Kind {
		case chat.ToolCall:
			names[p.ID] = p.Name
		case chat.ToolResult:
			p.Name = cmp.Or(p.Name, names[p.ID])
		}
	}
	return out
}

// piProject returns the folder in which pi keeps the sessions of a working folder.
func piProject(folder string) string {
	path := strings.TrimLeft(folder, `/\`)
	return "--" + strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(path) + "--"
}
