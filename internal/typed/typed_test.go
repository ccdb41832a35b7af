package typed

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

func user(texts ...string) chat.Message {
	m := chat.Message{Role: chat.User}
	for _, t := range texts {
		m.Parts = append(m.Parts, chat.Part{Kind: chat.Text, Text: t})
	}
	return m
}

func show(m *chat.Message, spans []Span) string {
	var list []string
	for k := range spans {
		s := &spans[k]
		switch {
		case s.Kind == Typed:
			list = append(list, fmt.Sprintf("typed %q", s.Words(m)))
		case s.Name != "":
			list = append(list, s.Kind.String()+" "+s.Name)
		default:
			list = append(list, s.Kind.String())
		}
	}
	return strings.Join(list, ", ")
}

// Split tells a client's additions to a message from the typed words beside them.
// Instructions are those of the project, not of code that came from elsewhere.
func TestIsInstructions(t *testing.T) {
	for file, want := range map[string]bool{"/w/AGENTS.md": true, `C:\w\CLAUDE.md`: true, "AGENTS.md": true, "/w/node_modules/x/AGENTS.md": false, "vendor/x/CLAUDE.md": false, "/w/agents.go": false} {
		if IsInstructions(file) != want {
			t.Errorf("%s: %v", file, !want)
		}
	}
}

func TestSplit(t *testing.T) {
	reminder := func(s string) string { return "<system-reminder>\n" + s + "\n</system-reminder>" }
	fold := "[Earlier conversation, messages 1-9, shortened: x.]\n(instructions /w, put in by the client) Use tabs.\n\nUser: Fix it:\n- read all of it\n- never push\n" +
		"- read a.go; read b.go\n- ran `make`: ok\n  User's tests pass\nAgent: It must stay.\n[1 turn left out, messages 4-5]\n\nUser: (stands whole below; what follows here was done for it) Go\n[End of the earlier conversation]"
	for name, c := range map[string]struct {
		texts []string
		want  string
	}{
		"words":                {[]string{"Fix it.\n<b>really</b>"}, `typed "Fix it.\n<b>really</b>"`},
		"reminder before":      {[]string{reminder("Mind the list.") + "\n\nCan we?"}, `client, typed "Can we?"`},
		"reminder behind":      {[]string{"Can we?\n\n" + reminder("Mind the list.")}, `typed "Can we?", client`},
		"named in a sentence":  {[]string{"What is a <system-reminder> for?"}, `typed "What is a <system-reminder> for?"`},
		"not closed, inside":   {[]string{"Look:\n<system-reminder>\nwhy?"}, `typed "Look:\n<system-reminder>\nwhy?"`},
		"in a fence":           {[]string{"Parse this:\n```\n<system-reminder>\nx\n</system-reminder>\n```\nplease"}, `typed "Parse this:\n` + "```" + `\n<system-reminder>\nx\n</system-reminder>\n` + "```" + `\nplease"`},
		"project's rules":      {[]string{reminder("As you answer the user's questions, you can use the following context:\n# claudeMd\nUse tabs.")}, "instructions"},
		"file read for @":      {[]string{reminder(`Called the Read tool with the following input: {"file_path":"/w/a.go"}`), reminder("Result of calling the Read tool:\n1\tpackage a"), "See @a.go"}, `file /w/a.go, file /w/a.go, typed "See @a.go"`},
		"file changed":         {[]string{reminder("Note: /w/a.go was modified, either by the user or by a linter. Here:\n1\tpackage a")}, "file /w/a.go"},
		"hook in a reminder":   {[]string{reminder("SessionStart:startup hook success: Success")}, "client"},
		"hook alone":           {[]string{"UserPromptSubmit hook additional context: Be terse."}, "client"},
		"list of tools":        {[]string{reminder("The following skills are available for use with the Skill tool:\n- pdf")}, "client"},
		"typed meanwhile":      {[]string{reminder("The user sent a new message while you were working:\nStop at ten.\n\nIMPORTANT: After completing your current task, you MUST address the user's message above. Do not ignore it.")}, `client, typed "Stop at ten.", client`},
		"report":               {[]string{"<task-notification>\n<task-id>a1</task-id>\n<result>All done.</result>\n</task-notification>\nFull transcript available at: /tmp/a1.output"}, "report, report"},
		"queue record":         {[]string{`{"task_id":"a1","description":"x","task_type":"local_agent"}`}, "client"},
		"client's command":     {[]string{"<command-name>/exit</command-name>\n <command-message>exit</command-message>\n <command-args></command-args>", "<local-command-stdout>Bye!</local-command-stdout>"}, "client, client, client, client"},
		"own one with a text":  {[]string{"<command-name>/compact</command-name>\n <command-message>compact</command-message>\n <command-args>keep the plan</command-args>"}, `client, client, client, typed "/compact keep the plan", client`},
		"command with a text":  {[]string{"<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>12 --fix</command-args>", "# Review\nRead all."}, `client, client, client, typed "/review 12 --fix", client, skill`},
		"skill":                {[]string{"Base directory for this skill: /s/pdf\n\n# PDF\nRead."}, "skill /s/pdf"},
		"interrupted":          {[]string{"[Request interrupted by user]", "No, the other."}, `client, typed "No, the other."`},
		"skill by its name":    {[]string{"/skill:pdf"}, `typed "/skill:pdf"`},
		"slash":                {[]string{"/clear"}, "client"},
		"path, no slash":       {[]string{"/etc/hosts"}, `typed "/etc/hosts"`},
		"summary":              {[]string{"This session is being continued from a previous conversation that ran out of context."}, "summary"},
		"Codex' beginning":     {[]string{"# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>", "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>"}, "instructions /w, client"},
		"Codex' files":         {[]string{"# Files mentioned by the user:\n\n## a.png: /tmp/a.png\n\n## My request for Codex:\nAlign it.\n"}, `file, typed "Align it."`},
		"Codex' skill":         {[]string{"<skill>\n<name>coordinator</name>\n<path>/s/SKILL.md</path>\nSplit work.\n</skill>"}, "skill coordinator"},
		"pi's skill":           {[]string{"<skill name=\"search\" location=\"/s/SKILL.md\">\nSearch.\n</skill>\n\nfind the meaning"}, `skill search, typed "/skill:search find the meaning"`},
		"Gemini's file":        {[]string{"Look at @README.md", "\n--- Content from referenced files ---", "\nContent from @README.md:\n", "# Title\ntext", "\n--- End of content ---", "Thanks"}, `typed "Look at @README.md", file, file README.md, file, file, typed "Thanks"`},
		"Gemini's beginning":   {[]string{"This is the Gemini CLI. We are setting up the context for our chat.\nToday's date is x."}, "client"},
		"opencode's file":      {[]string{"Use @a.ts", `Called the Read tool with the following input: {"filePath":"/w/a.ts"}`, "<path>/w/a.ts</path>\n<type>file</type>\n<content>\n1: x\n</content>"}, `typed "Use @a.ts", file /w/a.ts, file /w/a.ts`},
		"Cline's task":         {[]string{"<task>\nFix it.\n</task><environment_details>\n# Time\n</environment_details>"}, `client, typed "Fix it.", client, client`},
		"Cline's result":       {[]string{"[read_file for 'a.go'] Result:", "package a", "<environment_details>\nx\n</environment_details>"}, "client, client, client"},
		"Copilot's request":    {[]string{"<context>\nThe current date is x.\n</context>\n<userRequest>\nFix it.\n</userRequest>"}, `client, client, typed "Fix it.", client`},
		"winnow's fold":        {[]string{fold}, `client, instructions /w, typed "Fix it:\n- read all of it\n- never push", told, told, client, client, client`},
		"winnow's state":       {[]string{"[How things stand now, put together from x.]\n## Files\n[End of how things stand]"}, "client"},
		"a person's own frame": {[]string{"<context>\nWe sell hats.\n</context>\nWrite a slogan."}, `typed "<context>\nWe sell hats.\n</context>\nWrite a slogan."`},
	} {
		m := user(c.texts...)
		if got := show(&m, Split(chat.Messages{m}, 0)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

// The text of a skill is known by the call that asked for it, and what a file
// marks as nobody's is nobody's.
func TestSplitBesideOthers(t *testing.T) {
	launched := chat.ResultMessage("1", "Launching skill: design")
	marked := user("/w/a.go\npackage a")
	marked.Synthetic = true
	late := chat.ResultMessage("2", "ok\n<system-reminder>\nThe user sent a new message while you were working:\nUse port 81.\n</system-reminder>")
	h := chat.Messages{launched, user("Approach this as a lead."), user("Thanks."), marked, late}
	for i, want := range []string{"", "skill", `typed "Thanks."`, "file /w/a.go", `typed "Use port 81."`} {
		if got := show(h.At(i), Split(h, i)); got != want {
			t.Errorf("message %d: got %s, want %s", i, got, want)
		}
	}
	if got := Words(h, 4); got != "Use port 81." {
		t.Errorf("words %q", got)
	}
}

// Spans lie in order inside their parts, whatever the text is.
func FuzzSplit(f *testing.F) {
	for name := range tags {
		f.Add("a\n<"+name+">b</"+name+">c", false)
	}
	for k := range starts {
		f.Add(starts[k].text+starts[k].also+"x", true)
	}
	f.Add(strings.Repeat("<system-reminder>\n", 50), false)
	f.Fuzz(func(t *testing.T, s string, synthetic bool) {
		m := user(s, s)
		m.Synthetic = synthetic
		m.Parts = append(m.Parts, chat.Part{Kind: chat.ToolResult, Text: s})
		part, at := 0, 0
		for _, x := range Split(chat.Messages{m, m}, 1) {
			if x.Part > part {
				part, at = x.Part, 0
			}
			if x.Part < part || x.From < at || x.To <= x.From || x.To > len(m.Parts[x.Part].Text) {
				t.Fatalf("%+v after %d of part %d", x, at, part)
			}
			if synthetic && x.Kind == Typed && x.Part < 2 && !strings.Contains(s, "<") {
				t.Fatalf("typed in a message that nobody typed: %+v", x)
			}
			at = x.To
		}
	})
}
