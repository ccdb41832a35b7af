package providersim

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/model"
)

// Dialects, as they are named in records and in [Ask].
const (
	Chat      = "openai"
	Responses = "responses"
	Anthropic = "anthropic"
	Gemini    = "gemini"
)

// Options are a server's settings. The zero value works.
type Options struct {
	// Seed of answers, faults and signatures. Two servers with the same seed
	// give the same answers and accept each other's signatures.
	Seed uint64

	// Window is the most tokens of a prompt, for models that Models does not
	// name; default 200,000.
	Window int

	// Models are settings by name; the longest name that the requested model
	// starts with is taken.
	Models map[string]Model

	// Count counts the tokens of a text; default: (len+3)/4.
	Count func(text []byte) int

	// Now is the clock of cache lifetimes and timestamps; default time.Now.
	Now func() time.Time

	// Overflow is the shape in which a dialect says that a prompt is too long;
	// default: what the provider does most often. The key is the dialect.
	Overflow map[string]Overflow

	// Binding says which Anthropic models bind thinking to its prefix; default
	// [BindNewer].
	Binding Binding

	// Agent writes the answers; default [Scripted] with at most 8 steps.
	Agent func(*Ask) []Block

	// Drive, if set, writes them instead: it makes a real agent work. GET
	// /sim/drive shows its account. A request with the header Sim-Answer is
	// answered by Agent all the same.
	Drive *Driver

	// Faults happen by chance, at most one for a request, chosen by the seed
	// and the request's number: a retry draws again.
	Faults []Chance

	// StallFor is how long a stalled stream stays open; default 30 s. It ends
	// early when the client goes away or the server is closed.
	StallFor time.Duration

	// FirstByte is the delay before an answer, EventGap the one between two
	// events of a stream; default none.
	FirstByte, EventGap time.Duration

	// Hold holds back an event of a stream, counted from 0, until something can
	// be received from the channel that it returns; nil is at once. With it a
	// test decides how far an answer has come, where a gap in time is a guess.
	Hold func(a *Ask, event int) <-chan struct{}

	// MaxBody is the largest body in bytes, as it is after decompression.
	// Default: 32 MB, Gemini 20 MB.
	MaxBody int64

	// Keep is how many requests' hashes /sim/requests shows; default 64.
	Keep int

	// OnRequest, if set, is called with every request's record and body, just
	// before the answer is sent, by several goroutines at once. The body must
	// not be changed or kept.
	OnRequest func(Record, []byte)
}

// Model is what one model can take and costs. Zero fields take the defaults.
type Model struct {
	// Window is the most tokens of a prompt.
	Window int

	// Output is the most tokens that may be asked for; 0 means no limit.
	Output int

	// CacheMin is the smallest prefix that is cached, in tokens. Default: what
	// the provider documents for the model, else 1,024.
	CacheMin int

	// Prices turn usage into dollars; where there are none it is free.
	Prices model.Prices
}

// Chance is a fault and how likely it is, from 0 to 1.
type Chance struct {
	Fault Fault
	P     float64
}

// Overflow is a shape in which a provider says that a prompt is too long.
type Overflow string

const (
	// OverflowDefault is the provider's usual shape: numbers in a 400; for the
	// responses dialect a text without numbers, as a failed event in a stream.
	OverflowDefault Overflow = ""

	// OverflowError is a 400 with the provider's text even where a stream
	// would have carried it.
	OverflowError Overflow = "error"

	// OverflowLimit is a second wording of the same: "Input tokens exceed the
	// configured limit" for OpenAI, a text without numbers for the others.
	OverflowLimit Overflow = "limit"

	// OverflowTooLarge is a 413, about bytes.
	OverflowTooLarge Overflow = "413"

	// OverflowEmpty is a 400 without a body.
	OverflowEmpty Overflow = "empty"

	// OverflowFinish is a 200 whose answer has nothing but the reason that it
	// stopped: model_context_window_exceeded, length, response.failed,
	// MAX_TOKENS.
	OverflowFinish Overflow = "finish"

	// OverflowStream is a 200 whose stream breaks off with an error event
	// before any content. Without streaming it is as OverflowError.
	OverflowStream Overflow = "stream"

	// OverflowLate is as OverflowStream, after some content was sent.
	OverflowLate Overflow = "late"

	// OverflowSilent accepts the prompt and reports more than the window.
	OverflowSilent Overflow = "silent"
)

// Binding says which Anthropic models bind thinking to its prefix.
type Binding int

const (
	// BindNewer binds for Fable from 5.1 on and for every model from 5.5 on.
	BindNewer Binding = iota
	// BindAlways binds for all models.
	BindAlways
	// BindNever checks only that a block is unaltered.
	BindNever
)

func (o Options) withDefaults() Options {
	o.Window = cmp.Or(o.Window, 200_000)
	if o.Count == nil {
		o.Count = func(b []byte) int { return (len(b) + 3) / 4 }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Agent == nil {
		o.Agent = Scripted(8)
	}
	if agent := o.Agent; o.Drive != nil {
		o.Agent = func(a *Ask) []Block {
			if a.Want != "" {
				return agent(a)
			}
			return o.Drive.Answer(a)
		}
	}
	o.StallFor = cmp.Or(o.StallFor, 30*time.Second)
	o.Keep = cmp.Or(o.Keep, 64)
	return o
}

// settingsFor returns the settings of a model, with defaults filled.
func (o *Options) settingsFor(name string) Model {
	var m Model
	best := -1
	for n, c := range o.Models {
		if strings.HasPrefix(name, n) && len(n) > best {
			m, best = c, len(n)
		}
	}
	m.Window = cmp.Or(m.Window, o.Window)
	m.CacheMin = cmp.Or(m.CacheMin, documentedCacheMin(name))
	return m
}

// documentedCacheMin returns the smallest prefix that is cached, by model.
func documentedCacheMin(name string) int {
	family, major, minor := claudeVersion(name)
	switch {
	case family == "":
		return 1024
	case (family == "opus" || family == "fable") && major >= 5:
		return 512
	case family == "opus" && major == 4 && minor == 7:
		return 2048
	case family == "opus" && major == 4 && (minor == 5 || minor == 6), family == "haiku" && major == 4 && minor == 5:
		return 4096
	}
	return 1024
}

// bindsThinking tells whether a model binds thinking to its prefix.
func (o *Options) bindsThinking(name string) bool {
	if o.Binding != BindNewer {
		return o.Binding == BindAlways
	}
	family, major, minor := claudeVersion(name)
	if family == "fable" {
		return major > 5 || major == 5 && minor >= 1
	}
	return major > 5 || major == 5 && minor >= 5
}

// claudeVersion takes a name like claude-opus-4-5-20251101 apart.
func claudeVersion(name string) (family string, major, minor int) {
	parts := strings.Split(name, "-")
	if parts[0] != "claude" {
		return "", 0, 0
	}
	var nums []int
	for _, p := range parts[1:] {
		if n, err := strconv.Atoi(p); err == nil && len(p) <= 2 {
			nums = append(nums, n)
		} else if family == "" {
			family = p
		}
	}
	nums = append(nums, 0, 0)
	return family, nums[0], nums[1]
}
