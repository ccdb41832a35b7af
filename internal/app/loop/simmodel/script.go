package simmodel

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/text"
)

// scriptedAgent returns an agent that looks around in the working folder: it lists,
// reads some of what it found, and sums up. What it chooses follows
// from the seed and from how many answers it gave before. The prompt has no part
// in it: that names the folder, and would make the same conversation go
// otherwise in another place.
func scriptedAgent(seed uint64) func(*providersim.Ask) []providersim.Block {
	var answers atomic.Uint64
	return func(a *providersim.Ask) []providersim.Block {
		return script{a, rand.New(rand.NewPCG(seed, answers.Add(1)))}.answer()
	}
}

type script struct {
	*providersim.Ask
	rand *rand.Rand
}

func (s script) answer() []providersim.Block {
	if len(s.Tools) == 0 || s.Choice == "none" {
		return s.say(s.closingWords())
	}
	switch s.Step {
	case 0:
		return s.answerMessage()
	case 1:
		return s.readListed()
	}
	return s.say(s.closingWords())
}

func (s script) hasTool(tool string) bool {
	return slices.ContainsFunc(s.Tools, func(t providersim.Tool) bool { return t.Name == tool })
}

func (s script) say(text string) []providersim.Block {
	return []providersim.Block{{Kind: providersim.Text, Text: text}}
}

func toolCall(tool string, args map[string]any) providersim.Block {
	raw, err := json.Marshal(args)
	if err != nil {
		raw = []byte("{}") // cannot happen: the arguments are words and numbers
	}
	return providersim.Block{Kind: providersim.Call, Name: tool, Args: string(raw)}
}

var (
	asksToWrite = regexp.MustCompile(`(?i)\b(write|create|save|note)\b`)
	asksToRun   = regexp.MustCompile(`(?i)\b(run|execute|shell|command)\b`)
	greets      = regexp.MustCompile(`(?i)^\W*(hi|hello|hey|good (morning|day|evening)|thanks|thank you|ok|okay)\W*$`)
)

// answerMessage answers the person's message.
func (s script) answerMessage() []providersim.Block {
	switch asked := s.LastText; {
	case greets.MatchString(asked):
		return s.say("Hello. I am winnow's simulated model: I look at the files in this folder and understand none of them, but they fill the window as real ones do. " +
			"Ask me something about this folder a few times and watch the conversation being compacted; /context shows what the window holds, /help what else there is.")
	case asksToWrite.MatchString(asked) && s.hasTool("write_file"):
		return append(s.say("I will write that down. You will be asked first."),
			toolCall("write_file", map[string]any{"path": "winnow-sim.txt", "content": "Written by winnow's simulated model.\nIt was asked: " + text.Brief(asked, 200) + "\n"}))
	case asksToRun.MatchString(asked) && s.hasTool("run"):
		return append(s.say("I will run a harmless command. You will be asked first."), toolCall("run", map[string]any{"command": "ls -l | head -n 20"}))
	case !s.hasTool("read_file"):
		return s.say(s.closingWords())
	}
	return append(s.say(pick(s.rand, "I will look at what is here first.", "Let me see which files there are.", "First the folder, then the files.")),
		toolCall("read_file", map[string]any{"path": "."}))
}

var listed = regexp.MustCompile(`(?m)^(\S+)  (\d+) bytes$`)

// texts are the endings of files that are worth reading.
var texts = []string{".go", ".md", ".txt", ".py", ".ts", ".js", ".rs", ".c", ".h", ".java", ".rb", ".sh", ".sql", ".yaml", ".yml", ".json", ".toml", ".html", ".css", ""}

// readListed reads up to three of the files that were listed.
func (s script) readListed() []providersim.Block {
	var names []string
	for _, m := range listed.FindAllStringSubmatch(s.LastText, -1) {
		size, err := strconv.Atoi(m[2])
		if err == nil && size > 0 && size < 1<<20 && slices.Contains(texts, strings.ToLower(path.Ext(m[1]))) {
			names = append(names, m[1])
		}
	}
	if len(names) == 0 {
		return s.say(s.closingWords())
	}
	s.rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	names = names[:min(len(names), 1+s.rand.IntN(3))]
	if !s.Parallel {
		names = names[:1]
	}
	out := s.say(fmt.Sprintf("I read %s.", strings.Join(names, ", ")))
	for _, n := range names {
		out = append(out, toolCall("read_file", map[string]any{"path": n}))
	}
	return out
}

var word = regexp.MustCompile(`[A-Za-z_]{5,24}`)

// closingWords sums up.
func (s script) closingWords() string {
	about := "what you asked"
	if found := word.FindAllString(s.LastText, -1); len(found) > 0 {
		a, b := found[s.rand.IntN(len(found))], found[s.rand.IntN(len(found))]
		about = a
		if b != a {
			about += " and " + b
		}
	}
	text := pick(s.rand,
		"I have looked at the files that seemed to matter. Most of it turns on %s.",
		"That is what there is to see for now. I would start with %s.",
		"Nothing surprising so far; the interesting part is %s.",
		"I am done with this part. The open question is %s.")
	return fmt.Sprintf(text, about) + " " + pick(s.rand,
		"Shall I look at another corner of this folder?",
		"Ask for more, and I will read on.",
		"Say where to look next.") + " (I am a simulation and understand none of this.)"
}

func pick(r *rand.Rand, list ...string) string { return list[r.IntN(len(list))] }
