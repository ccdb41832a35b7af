package typed

import (
	"path"
	"regexp"
	"strings"

	"github.com/winnow-llm/winnow/internal/find"
)

// The shapes were read in clients' sources and in recorded requests and sessions,
// of the versions named beside them: Claude Code 1.0-2.1, Codex 0.40-0.140, Gemini
// CLI 0.1-0.30 and Qwen Code, opencode 0.5-1.3, pi 0.30-0.99, Cline 3 with Roo and
// Kilo Code, OpenHands 0.30-1.20, Copilot Chat 0.30, Cursor 2, mini-swe-agent 1-2,
// aider 0.80. A shape whose client changes it is added to, never replaced: old
// sessions keep the old one.

// tag is a shape between an opening and a closing tag.
type tag struct {
	kind  Kind
	head  bool   // only where nothing was typed before it: the name is a common word
	rest  bool   // reaches to the end of its text, behind the closing tag
	typed bool   // the client's frame around a person's words
	also  string // stands near the start too
	name  string // what stands before its name, up to a quote, a bracket or the line's end
}

// reminderTag frames reminders of all kinds, by Claude Code and those that follow it.
const reminderTag = "system-reminder"

// commandWithText starts a command of Claude Code that stands for a longer
// prompt, which is the next text. What the person typed is its name, between tags
// of commandName, and its arguments. A command of the client's own starts with its name.
const (
	commandWithText = "<command-message>"
	commandName     = "command-name"
)

// commandArgs are the arguments of a command, where it has any.
var commandArgs = regexp.MustCompile(`^\s*(?:<command-message>[^<]*</command-message>\s*)?<command-args>\s*[^\s<]`)

// skillResult starts the result of a call of Claude Code's tool Skill. The
// skill's text is the next one.
const skillResult = "Launching skill: "

// tags are the shapes by the names of their tags; those of a row are alike.
var tags = tagTable(map[string]tag{
	// Claude Code.
	reminderTag + ", command-message, local-command-caveat, local-command-stdout, local-command-stderr": {kind: Client},
	commandName + ", bash-input, bash-stdout, bash-stderr, user-prompt-submit-hook, session-start-hook": {kind: Client},
	"ide_opened_file, ide_diagnostics, new-diagnostics, available-deferred-tools":                       {kind: Client},
	"task-notification, agent-notification, teammate-message, cross-session-message":                    {kind: Report},
	"command-args":      {typed: true},
	"command-contents":  {kind: Skill},
	"ide_selection":     {kind: File},
	"mcp-resource":      {kind: File, name: "uri="},
	"user-memory-input": {kind: Instructions},

	// Codex.
	"environment_context, skills_instructions, plugins_instructions, app-context, model_switch":                          {kind: Client},
	"turn_aborted, user_shell_command, user_action, hook_prompt, codex_internal_context":                                 {kind: Client},
	"user_instructions, INSTRUCTIONS, permissions instructions, apps_instructions, collaboration_mode, personality_spec": {kind: Instructions},
	"subagent_notification": {kind: Report},

	// Codex names its skills inside, pi in the tag.
	"skill":           {kind: Skill, head: true, name: "name"},
	"activated_skill": {kind: Skill, name: "name="},

	// Gemini CLI and Qwen Code.
	"session_context, hook_context": {kind: Client},
	"loaded_context":                {kind: Instructions},
	"state_snapshot":                {kind: Summary, head: true},

	// opencode and crush: a file that was named with @ is a text of its own.
	"path":            {kind: File, head: true, rest: true, also: "<type>", name: "<path>"},
	"file":            {kind: File, head: true, name: "name="}, // pi too
	"system_reminder": {kind: Client},

	// Cline, Roo Code, Kilo Code.
	"environment_details, workspace_diagnostics, git_working_state": {kind: Client},
	"task, feedback, user_message, answer":                          {head: true, typed: true},
	"explicit_instructions":                                         {kind: Instructions},
	"file_content, final_file_content, folder_content":              {kind: File, name: "path="},
	"url_content": {kind: File, name: "url="},

	// OpenHands.
	"RUNTIME_INFORMATION, REPOSITORY_INFO, CURRENT_DATETIME, WORKSPACE_FILES": {kind: Client},
	"REPOSITORY_INSTRUCTIONS": {kind: Instructions},
	"EXTRA_INFO":              {kind: Skill},

	// Copilot Chat.
	"environment_info, workspace_info, reminderInstructions, importantReminders, editorContext, repoContext": {kind: Client},
	"userRequest":          {typed: true},
	"context":              {kind: Client, head: true, also: "The current date is"},
	"attachments":          {kind: File, head: true, also: "<attachment "},
	"attachment":           {kind: File, head: true, name: "id="},
	"conversation-summary": {kind: Summary, head: true},

	// Cursor.
	"user_info, project_layout, open_and_recently_viewed_files, agent_skills": {kind: Client},
	"user_query":                  {typed: true},
	"git_status, additional_data": {kind: Client, head: true},
	"attached_files":              {kind: File},

	// mini-swe-agent.
	"returncode": {kind: Client, head: true, rest: true},
})

func tagTable(rows map[string]tag) map[string]*tag {
	table := map[string]*tag{}
	for names, t := range rows {
		for name := range strings.SplitSeq(names, ", ") {
			table[name] = &t
		}
	}
	return table
}

// tagAt returns the tag that a text starts with, and its name.
func tagAt(s string) (string, *tag) {
	n := 1
	for n < len(s) && n < 40 && s[n] != '>' && s[n] != ' ' && s[n] != '\n' {
		n++
	}
	if n == len(s) || n == 40 || strings.IndexByte(s[n:min(len(s), n+1000)], '>') < 0 {
		return "", nil
	}
	name := s[1:n]
	if t := tags[name]; t != nil {
		return name, t
	}
	if s[n] == ' ' {
		name = s[1 : n+strings.IndexByte(s[n:], '>')]
		return name, tags[name]
	}
	return name, nil
}

// start is a shape that is known by what a text starts with.
type start struct {
	kind Kind
	text string
	also string // stands near the start too
	end  string // "" is the end of the text, "\n" that of the line
	must bool   // no shape without its end
	name string // what stands before its name
}

const codexRequest = "## My request for Codex:"

// Gemini's heads of attached files, whose text may be the next one.
const (
	contentBelow = "--- Content from referenced files ---"
	contentOf    = "Content from @"
)

// requestHead is the heading under which a harness puts what the user typed, below
// a context of its own that is at least so long.
var requestHead = regexp.MustCompile(`(?mi)^#{1,4} (?:the )?(?:user(?:'s)?|my) (?:request|query|prompt|message|question|task|input)\b[^\n]*$`)

const leastPreamble = 1000

var starts = [...]start{
	// Claude Code.
	{kind: Skill, text: "Base directory for this skill:", name: "skill:"},
	{kind: Client, text: "Caveat: The messages below were generated by the user while running local commands", end: "\n"},
	{kind: Client, text: "[Request interrupted by user", end: "\n"},
	{kind: Client, text: "[SYSTEM NOTIFICATION - NOT USER INPUT]"},
	{kind: Client, text: "[Image: original ", end: "\n"},
	{kind: File, text: "[Image: source: ", end: "\n", name: "source:"},
	{kind: Report, text: "Full transcript available at: ", end: "\n"},
	{kind: Report, text: "Read the output file to retrieve the result: ", end: "\n"},
	{kind: Client, text: `{"task_id":"`, also: `"task_type":"`},
	{kind: Summary, text: "This session is being continued from a previous conversation"},
	{kind: Client, text: "Your task is to create a detailed summary of the conversation so far"},

	// Codex, and its plug-ins for editors and the desktop.
	{kind: Instructions, text: "# AGENTS.md instructions", end: "</INSTRUCTIONS>", name: "instructions for"},
	{kind: File, text: "# Files mentioned by the user:", end: codexRequest, must: true},
	{kind: File, text: "# Selected text:", end: codexRequest, must: true},
	{kind: Client, text: "# Context from my IDE setup:", end: codexRequest, must: true},
	{kind: Summary, text: "Another language model started to solve this problem and produced a summary"},
	{kind: Client, text: "<image name=", end: "\n"},
	{kind: Client, text: "</image>", end: "\n"},

	// Gemini CLI and Qwen Code.
	{kind: File, text: contentBelow, end: "--- End of content ---"},
	{kind: File, text: contentOf, end: "--- End of content ---", name: "from @"},
	{kind: File, text: "--- End of content ---", end: "\n"},
	{kind: Client, text: "This is the ", also: "We are setting up the context for our chat."},
	{kind: Client, text: "Here is the user's editor context"},
	{kind: Client, text: "Here is a summary of changes in the user's editor context"},
	{kind: Client, text: "System: Please continue."},

	// opencode, in Claude Code's words inside a reminder.
	{kind: File, text: "Called the ", also: " tool with the following input: ", end: "\n", name: `ath":`},
	{kind: Client, text: "The following tool was executed by the user", end: "\n"},
	{kind: Client, text: "Summarize the task tool output above and continue with your task."},
	{kind: Client, text: "Use the above message and context to generate a prompt and call the task tool with subagent:"},
	{kind: Client, text: "Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed."},

	// pi.
	{kind: Summary, text: "The conversation history before this point was compacted into the following summary:"},
	{kind: Summary, text: "The following is a summary of a branch that this conversation came back from:"},
	{kind: Client, text: "Ran `", also: "`\n```"},

	// Cline, Roo Code, Kilo Code.
	{kind: Client, text: "[TASK RESUMPTION]"},
	{kind: Client, text: "[ERROR] You did not use a tool in your previous response!"},
	{kind: Client, text: "# task_progress"},

	// OpenHands.
	{kind: Client, text: "EXECUTION RESULT of ["},
	{kind: Client, text: "Please continue working on the task on whatever approach you think is suitable."},

	// mini-swe-agent.
	{kind: Client, text: "Please always provide EXACTLY ONE action in triple backticks"},

	// winnow, in a session that was written from a view.
	{kind: Client, text: "[How things stand now, put together from", end: "[End of how things stand]"},
	{kind: Client, text: "[Earlier messages", end: "\n"},

	// aider.
	{kind: File, text: "I have *added these files to the chat*"},
	{kind: Client, text: "Here are summaries of some files present in my git repository."},
}

// A fold that winnow wrote, in a session that was written from a view: a dialogue
// between two lines. foldBelow starts a request that stands in a message of its own too.
const (
	foldHead   = "[Earlier conversation, messages "
	foldEnd    = "\n[End of the earlier conversation]"
	foldUser   = "User: "
	foldBelow  = "(stands whole below; what follows here was done for it) "
	foldNotice = ", put in by the client) "
)

// foldSpeaker starts what somebody says in a fold. foldAction starts the line of an
// action there, told from a list in what the user typed by its verb and its object.
var (
	foldSpeaker = regexp.MustCompile(`(?m)^(?:User: |Agent: |Report of a sub-agent: |\(.*, put in by the client\) |\[\d+ (?:turn|action)s? (?:left out|of these)|\[End of |## Where it stands$)`)
	foldAction  = regexp.MustCompile("(?m)^- (?:(?:read|wrote|deleted|edited|listed) \\S+(?:$|[,;:] | [\\d(])|(?:ran|searched for|looked for files named) `|called )")
)

// inReminder says what reminders of other kinds start with.
var inReminder = [...]start{
	{kind: Instructions, text: "As you answer the user's questions, you can use the following context"},
	{kind: Instructions, text: "Contents of ", name: "Contents of"},
	{kind: Instructions, text: "# MCP Server Instructions"},
	{kind: File, text: "Called the ", also: " tool with the following input: ", name: `ath":`},
	{kind: File, text: "Result of calling the "},
	{kind: File, text: "Note: ", also: " was modified, either by the user or by a linter", name: "Note:"},
	{kind: File, text: "The user selected the lines ", name: " from "},
	{kind: Skill, text: "The following skills were invoked"},
	{kind: Report, text: "[BACKGROUND TASK"}, // opencode's most used plug-in
	{kind: Report, text: "Background agent "},
	{kind: Report, text: "Task ", also: "(status: "},
}

// reminderKind returns the kind and the name of a reminder.
func reminderKind(body string) (Kind, string) {
	for k := range inReminder {
		if b := &inReminder[k]; strings.HasPrefix(body, b.text) && strings.Contains(body[:min(len(body), 400)], b.also) {
			return b.kind, nameAfter(body, b.name)
		}
	}
	return Client, ""
}

// queued says how Claude Code hands over words typed while the model worked: in a
// reminder, and in 2.1 also at the end of a tool's result.
var queued = regexp.MustCompile(`(?s)^\s*The user sent (?:a new message while you were working|the following message):(.*?)` +
	`(?:\n\n(?:This is how Claude Code surfaces|IMPORTANT: After completing your current task|Please address this message and continue).*)?$`)

// hookLine is how a hook's text starts, of Claude Code and of clients that run the
// same hooks: `SessionStart:startup hook success:`, `Stop hook feedback:`.
var hookLine = regexp.MustCompile(`^(?:(?:SessionStart|SessionEnd|UserPromptSubmit|PreToolUse|PostToolUse|Stop|SubagentStart|SubagentStop|PreCompact|Notification|Setup|Hook)` +
	`[^\n]{0,80} hook |Hook )(?:additional context|success|feedback|blocking error|stopped continuation)[^\n]*:`)

// clientCommand is a whole text that is a command to the client: /compact. Those of
// skills and plug-ins have a colon.
var clientCommand = regexp.MustCompile(`^/[^/ .:\n\t]{1,38}$`)

// resultHead is how Cline's results start, whose answer is the next text:
// `[read_file for 'a.go'] Result:`.
var resultHead = regexp.MustCompile(`^[ \t]*\[[a-z_]+(?: [^\n]*)?\] Result:[ \t\r]*(?:\n|$)`)

// nameAfter returns the name behind a mark: the rest of its line, up to a quote
// or bracket.
func nameAfter(s, mark string) string {
	if mark == "" {
		return ""
	}
	_, rest, ok := strings.Cut(s[:min(len(s), 1000)], mark)
	if !ok {
		return ""
	}
	rest = strings.TrimLeft(rest[:endOfLine(rest)], ` ="'>`)
	if k := strings.IndexAny(rest, `"'<>`); k >= 0 {
		rest = rest[:k]
	}
	for _, end := range [...]string{" was modified, either", " (user's ", " (project ", ":\r"} {
		rest, _, _ = strings.Cut(rest, end)
	}
	return strings.ReplaceAll(strings.TrimRight(strings.TrimSpace(rest), ":"), `\\`, `\`)
}

// markedKind returns the kind and the name of a text that its session file marks as
// nobody's and that has no shape: a file if its first line is a path.
func markedKind(s string) (Kind, string) {
	line := strings.TrimSpace(s[:endOfLine(s)])
	if len(line) == len(s) || !rooted.MatchString(line) {
		return Client, ""
	}
	if IsInstructions(line) {
		return Instructions, line
	}
	return File, line
}

// rooted is a path from the root or a drive.
var rooted = regexp.MustCompile(`^(?:/|.:[\\/])[^\t<>|"*?]{0,298}$`)

// IsInstructions reports whether a file holds instructions for agents. What came with
// somebody else's code instructs nobody.
func IsInstructions(file string) bool {
	file = strings.ReplaceAll(file, `\`, "/")
	if find.Any("/"+file, "/node_modules/", "/vendor/", "/site-packages/", "/.cargo/", "/pkg/mod/") {
		return false
	}
	switch path.Base(file) {
	case "AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "CONVENTIONS.md", ".cursorrules", ".clinerules", ".windsurfrules", "copilot-instructions.md":
		return true
	}
	return strings.Contains(file, "/.claude/rules/")
}
