// Package table is what winnow knows of coding agents, as data: their names, the
// folders and formats of their sessions, the windows that they use, when they
// compact by themselves and how that is switched off, how their requests are
// recognised, and how each is pointed at a gateway, registered with and resumed.
//
// All other packages ask this table about agents; they hold nothing of an agent
// themselves, but for code that must follow its files. The rows say which version
// of the agent they were checked with.
package table

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
)

// Agent is one agent.
type Agent struct {
	// Name is what it is called everywhere, Program what shells call it, Title what
	// its makers call it, Aliases what else people write.
	Name    string   `json:"name"`
	Program string   `json:"program"`
	Title   string   `json:"title"`
	Aliases []string `json:"-"`

	// Checked is the version of which the rest is known.
	Checked string `json:"-"`

	// Pointed, Window and Compaction tell people how it is pointed at a gateway,
	// which window it has and what becomes of its own compaction. Settings are lines
	// for those who start a gateway themselves; GATEWAY stands for its address.
	Pointed    string `json:"pointed"`
	Window     string `json:"window"`
	Compaction string `json:"compaction"`
	Settings   string `json:"settings"`

	// Refused says why it cannot be started behind a gateway; the settings are all
	// there is then.
	Refused string `json:"refused,omitempty"`

	Sessions  Sessions  `json:"-"`
	Requests  Requests  `json:"-"`
	Model     Model     `json:"-"`
	Windows   Windows   `json:"-"`
	Own       Own       `json:"-"`
	Addresses Addresses `json:"-"`
	Server    Server    `json:"-"`
}

// Sessions is where an agent keeps its sessions, and how one is gone on with.
type Sessions struct {
	Format  string   // as package transcript calls it; "" where winnow reads none
	Folders []Place  // where they are
	Parent  string   // the name of the folder right above each; "" for any
	Endings []string // of their names

	// Resume starts the agent with a session: ID and FILE stand for the session's.
	// It is "" where the agent cannot go on with a file that another program wrote.
	Resume string
}

// Requests is how an agent's requests are recognised. All texts are lower case.
type Requests struct {
	UserAgents  []string // what the header User-Agent starts with
	Originators []string // what the header Originator starts with

	// Summary are texts of which one stands near the start of the last message of
	// the agent's own request for a summary, or behind the conversation in it.
	Summary []string
}

// Model is which model an agent asks for.
type Model struct {
	Variable string            // that names it
	File     Place             // its settings that may name it
	Member   string            // under which name
	Standard string            // what it asks for where nothing names one
	Short    map[string]string // its own names for models
}

// Windows is what an agent uses of a model's window. The zero value is all of it.
type Windows struct {
	// Small are parts of the names of models of which it uses Tokens at most unless
	// a million is asked for: by Million at the end of the model's name, or by a
	// beta header that starts with Beta. It uses Tokens of unknown models too.
	Small         []string
	Tokens        int
	Million, Beta string

	// Input is the most input that it gives any model, of which it uses Percent.
	Input, Percent int

	// Fixed is about how many tokens its own prompt and tools take.
	Fixed int
}

// Own is when an agent compacts by itself: at a Share of its window, or Before
// tokens before its end. The zero value says that nobody knows.
type Own struct {
	Share  float64
	Before int

	// Off says that winnow wrap switches it off or puts it out of reach. Stops is how
	// many tokens before the end of its window the agent then refuses to go on; 0 for one
	// that goes on.
	Off   bool
	Stops int
}

// SwitchedOff returns what is left of it where the agent was told not to compact.
func (o Own) SwitchedOff() Own { return Own{Before: o.Stops} }

// Point returns the tokens of prompt from which on an agent compacts a window by
// itself; 0 where nobody knows.
func (o Own) Point(window int) int {
	switch {
	case o.Share > 0:
		return int(math.Round(float64(window) * o.Share))
	case o.Before > 0:
		return max(0, window-o.Before)
	}
	return 0
}

// Window returns the window of an agent that compacts by itself at that number of
// tokens; 0 where nobody knows.
func (o Own) Window(at int) int {
	switch {
	case o.Share > 0:
		return int(math.Round(float64(at) / o.Share))
	case o.Before > 0:
		return at + o.Before
	}
	return 0
}

// Addresses is where a user may have given an agent the address of a provider.
type Addresses struct {
	Variables []string
	Files     []Place
	Members   []string // the names that hold one in the files
}

// Server is where an agent reads which MCP servers its user has.
type Server struct {
	Files []Place // the first that is there, else the last
	After string  // what to do after it was written

	// Add and Remove are the agent's own commands that register the server called
	// winnow, and remove it. COMMAND stands for what starts the server. They are "" where
	// the agent has none that asks nothing.
	Add, Remove string
}

// Place is a path below the folder that a variable names, or else below a folder of
// the user's.
type Place struct{ Variable, Folder, Path string }

// In returns the place on a machine.
func (p Place) In(home string, getenv func(string) string) string {
	root := filepath.Join(home, filepath.FromSlash(p.Folder))
	if p.Variable != "" {
		if v := getenv(p.Variable); v != "" {
			root = v
		}
	}
	return filepath.Join(root, filepath.FromSlash(p.Path))
}

// All returns the rows.
func All() []Agent { return slices.Clone(rows) }

// Find returns an agent by its name, its program, or another name of it, with or
// without the folder that a program is in; false where nothing is known.
func Find(name string) (Agent, bool) {
	name = strings.ToLower(strings.TrimSuffix(filepath.Base(name), ".exe"))
	return first(func(a *Agent) bool { return a.Name == name || a.Program == name || slices.Contains(a.Aliases, name) })
}

// OfFormat returns the agent whose sessions have a format.
func OfFormat(format string) (Agent, bool) {
	return first(func(a *Agent) bool { return a.Sessions.Format == format && format != "" })
}

// Of returns the agent that sends requests with these headers.
func Of(userAgent, originator string) (Agent, bool) {
	starts := func(text string, with []string) bool {
		text = strings.ToLower(text)
		return slices.ContainsFunc(with, func(w string) bool { return strings.HasPrefix(text, w) })
	}
	return first(func(a *Agent) bool {
		return starts(userAgent, a.Requests.UserAgents) || starts(originator, a.Requests.Originators)
	})
}

// first returns the first agent of which something is true; false for none.
func first(is func(*Agent) bool) (Agent, bool) {
	for i := range rows {
		if is(&rows[i]) {
			return rows[i], true
		}
	}
	return Agent{}, false
}

// AsksSummary reports whether a message is an agent's own request for a summary
// that it will put in the conversation's place, and whose. It is known by the words
// near its start; some agents put a warning before them, and others the conversation
// itself, in tags.
func AsksSummary(text string) (Agent, bool) {
	const near = 800
	end := 0
	for _, tag := range [...]string{"</conversation>", "</previous-summary>"} {
		end = max(end, strings.LastIndex(text, tag))
	}
	for _, part := range [...]string{text, text[end:]} {
		part = strings.ToLower(part[:min(len(part), near)])
		asks := func(words string) bool { return strings.Contains(part, words) }
		if a, ok := first(func(a *Agent) bool { return slices.ContainsFunc(a.Requests.Summary, asks) }); ok {
			return a, true
		}
	}
	return Agent{}, false
}
