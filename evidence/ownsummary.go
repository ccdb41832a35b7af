package evidence

import "strings"

// AsksForSummary reports whether a message is an agent's own request for a
// summary that it will put in the conversation's place. It is known by the words
// that stand near its start; some agents put a warning before them.
func AsksForSummary(text string) bool {
	const near = 800
	head := text[:min(len(text), near)]
	for _, words := range summaryWords {
		if strings.Contains(head, words) {
			return true
		}
	}
	return false
}

// summaryWords are how agents ask.
var summaryWords = [...]string{
	"Your task is to create a detailed summary of",                   // Claude Code
	"You are performing a CONTEXT CHECKPOINT COMPACTION",             // Codex, pi
	"generate the <state_snapshot>",                                  // Gemini CLI, Qwen Code
	"Generate the <state_snapshot>",                                  //
	"Provide a detailed prompt for continuing our conversation",      // opencode
	"Create a new anchored summary from the conversation history",    // opencode, Kilo
	"Update the anchored summary below using the conversation",       //
	"your urgent task is to create a comprehensive detailed summary", // Cline
}
