// Package show is how the command's reports look: colours and columns ([Style]),
// the meter of a window ([Style.Meter]), tables, and the documents that check and
// compact print as JSON ([Checked], [Compacted]).
//
// It needs the engine and a terminal, nothing else: programs that show reports
// need not link the whole command.
package show

import (
	"fmt"
	"io"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

// Checked is the JSON document of check.
type Checked struct {
	File    string `json:"file"`
	Format  string `json:"format"`
	Saw     string `json:"saw"`
	Session string `json:"session,omitempty"`
	Model   string `json:"model"`

	// ModelSource says how the model was found in the registry.
	ModelSource string `json:"model_source"`

	// WindowSource says where the window is known from: settings, stated, proven,
	// agent or model; WindowWhy says it in words.
	WindowSource model.WindowSource `json:"window_source"`
	WindowWhy    string             `json:"window_why,omitempty"`

	Messages int              `json:"messages"`
	Turns    int              `json:"turns"`
	Tokens   budget.Breakdown `json:"tokens"`
	Method   token.Method     `json:"method"`
	Band     float64          `json:"band"` // without a model, that of all models: see [token.Counter.Spread]
	Limits   budget.Limits    `json:"limits"`
	Kinds    Spent            `json:"kinds"`
	Bytes    int              `json:"bytes"`
	Images   int              `json:"images"`

	// Ratio is the count over what is available, RatioUpper the upper end of the
	// count's band, which decides.
	Ratio      float64 `json:"ratio"`
	RatioUpper float64 `json:"ratio_upper"`

	// Share is what --fail-over looks at: Ratio, or where the agent compacted the
	// session itself, that of what it would send now.
	Share float64 `json:"share"`

	// CompactAt is the count from which on it is time to compact, and CompactWhy
	// how it comes about.
	CompactAt  int    `json:"compact_at"`
	CompactWhy string `json:"compact_why"`

	Compact bool `json:"should_compact"`
	Fits    bool `json:"fits"`

	// Reported is what the provider last counted, where the file tells.
	Reported *Reported `json:"reported,omitempty"`

	// Own is what the agent that wrote the file did about its context itself.
	Own *OwnCompactions `json:"own_compactions,omitempty"`

	// Over names what is over its limit: tokens, bytes, images.
	Over []string `json:"over,omitempty"`

	// Saving is what a compaction would bring; nil when there is nothing to gain.
	Saving *Saving `json:"saving,omitempty"`

	Largest  []Item         `json:"largest"`
	Sessions []SessionBrief `json:"sessions,omitempty"`

	// The session that the person asked for, as written and as people are told.
	Named string `json:"-"`
	Label string `json:"-"`
}

// NewChecked returns what a status says of a view, with its largest items.
func NewChecked(w *winnow.Winnow, v plan.View, s *budget.Status, items int) *Checked {
	kinds, largest := Spend(w.Meter(), v, s, items)
	return &Checked{
		ModelSource: string(w.Model().Source), Messages: v.Len(), Turns: len(chat.Boundaries(v)),
		Tokens: s.Tokens, Method: s.Count.Method, Band: s.Count.Band, Limits: s.Limits, Kinds: kinds, Bytes: s.Bytes, Images: s.Images,
		Ratio: Ratio(s.Tokens.Total, s.Limits.Available), RatioUpper: s.Ratio, Compact: s.ShouldCompact, Fits: s.Fits, Over: s.Over, Largest: largest,
	}
}

// Reported is the usage of the last answer that carries one.
type Reported struct {
	Message int `json:"message"`
	Prompt  int `json:"prompt"`
	Output  int `json:"output"`
}

// OwnCompactions are the compactions that the file records. The agent sends less
// than the file holds then.
type OwnCompactions struct {
	Times int `json:"times"`
	Last  int `json:"last"` // the message before which the last one was made

	// Sent is about what the agent would send now. Counted says that this is the
	// provider's count of its last prompt and what came after; else it is the
	// summary and the messages since, and the agent may send more.
	Sent    int  `json:"sent"`
	Counted bool `json:"counted"`
}

// Saving is what a compaction would do. Where even that does not make the
// request fit, Error says why.
type Saving struct {
	After    int                `json:"tokens_after"`
	Saved    int                `json:"saved"`
	Messages int                `json:"messages_after"`
	Stages   []plan.StageReport `json:"stages"`
	Error    string             `json:"error,omitempty"`
}

// SessionBrief is one line about a session in a file with several.
type SessionBrief struct {
	Number   int    `json:"number"`
	ID       string `json:"id"`
	Messages int    `json:"messages"`
	Tokens   int    `json:"tokens"`
	Fits     bool   `json:"fits"`
}

// Again returns the flags with which compact does what check measured.
func (d *Checked) Again() string {
	flags := ""
	if !d.Compact {
		flags += " --force"
	}
	if d.Named != "" {
		flags += " --session " + d.Named
	}
	return flags
}

// String says for people what the agent did itself.
func (o *OwnCompactions) String() string {
	times := "once"
	if o.Times > 1 {
		times = fmt.Sprintf("%d times, the last time", o.Times)
	}
	text := fmt.Sprintf("the agent compacted this session %s before message %d; these figures are for the whole history, of which it would now send ", times, o.Last)
	if o.Counted {
		return text + fmt.Sprintf("about %s tokens, going by what the provider last counted", number(o.Sent))
	}
	return text + fmt.Sprintf("at least %s tokens: its summary, where the file has it, and the messages since", number(o.Sent))
}

// Model says which limits are used and where they come from.
func (st Style) Model(out io.Writer, name, how string, l budget.Limits) {
	who := name
	switch {
	case name == "":
		who = "no model named"
	case how == "default":
		who = name + " (unknown model)"
	case how != "exact":
		who = name + " (" + how + ")"
	}
	reserve := " for the prompt alone"
	if l.Reserve > 0 {
		reserve = ", output reserve " + number(l.Reserve)
	}
	fmt.Fprintf(out, "%s: window %s%s, %s available\n", who, number(l.Context), reserve, number(l.Available))
	if l.Fixed > l.Room { // else what is left for the messages shows in the account
		st.Prose(out, "", fmt.Sprintf("system prompt and tools take %s of them: this window is too small for such an agent", number(l.Fixed)), nil)
	}
}

// Window says where a window is known from that is not the model's.
func (st Style) Window(out io.Writer, tokens int, why string) {
	if why != "" {
		st.Prose(out, "", fmt.Sprintf("window %s: %s", number(tokens), why), st.Dim)
	}
}

// Compacted is the JSON document of compact.
type Compacted struct {
	Compacted bool   `json:"compacted"`
	Repaired  bool   `json:"repaired"`
	File      string `json:"file"`
	Format    string `json:"format"`
	Session   string `json:"session,omitempty"`
	Model     string `json:"model"`

	// Plan is the plan file, null when there is none.
	Plan   *string `json:"plan"`
	PlanID plan.ID `json:"plan_id,omitempty"`
	Out    string  `json:"out,omitempty"`

	// Continue is how an agent goes on from the view that --to wrote for it.
	Continue *Continued `json:"continue,omitempty"`

	DryRun bool `json:"dry_run"`

	Before    int `json:"tokens_before"`
	After     int `json:"tokens_after"`
	Target    int `json:"target"`
	Available int `json:"available"`

	// Window is the whole, and WindowSource where it is known from: settings,
	// stated, proven, agent or model.
	Window       int                `json:"window"`
	WindowSource model.WindowSource `json:"window_source"`

	Ratio  float64 `json:"ratio"`
	Upper  float64 `json:"ratio_upper"`
	Fits   bool    `json:"fits"`
	Waited bool    `json:"waited,omitempty"`

	// Pending is how many calls at the end have no result. A file is at rest, so
	// none will come, and the plan answers them: the view can be sent.
	Pending int `json:"pending"`

	// Own is what the agent that wrote the file did about its context itself.
	Own *OwnCompactions `json:"own_compactions,omitempty"`

	Stages         []plan.StageReport `json:"stages"`
	MessagesBefore int                `json:"messages_before"`
	MessagesAfter  int                `json:"messages_after"`
	Report         PlanReport         `json:"report"`

	Error *Failure `json:"error,omitempty"`

	// Forced says that it was asked for below the threshold too.
	Forced bool `json:"-"`
}

// PlanReport is what a plan did to the messages.
type PlanReport struct {
	Kept     plan.Tally            `json:"kept"`
	Reduced  plan.Tally            `json:"reduced"`
	Removed  plan.Tally            `json:"removed"`
	Evidence map[string]plan.Share `json:"evidence"`
	Notes    []string              `json:"notes"`
}

// Continued says how an agent goes on from a view.
type Continued struct {
	Command string `json:"command"` // to be run in Folder
	Folder  string `json:"folder"`

	// Move is where the file must go first; "" where the agent finds it.
	Move string `json:"move,omitempty"`
}

// Failure is the error in a JSON document.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Floor   any    `json:"floor,omitempty"`

	Settings string `json:"settings,omitempty"` // lines for the settings of an agent that cannot be wrapped
}

// Describe fills the document from a result.
func (doc *Compacted) Describe(s *source.Session, r *winnow.Result) {
	rep := r.Report()
	doc.Before, doc.After = r.Before.Tokens.Total, r.After.Tokens.Total
	doc.Available, doc.Fits, doc.Waited = r.After.Limits.Available, r.After.Fits, r.Waited
	doc.Ratio, doc.Upper = Ratio(doc.After, doc.Available), r.After.Ratio
	doc.MessagesBefore, doc.MessagesAfter = rep.MessagesBefore, rep.MessagesAfter
	doc.Stages = append([]plan.StageReport{}, rep.Stages...)
	doc.Report = NewPlanReport(&rep)
	for _, st := range rep.Stages {
		if st.Name == "repair" {
			doc.Repaired = true
		} else {
			doc.Compacted = true
		}
	}
	if r.Plan != nil {
		doc.PlanID = r.Plan.ID()
	}
	o := chat.NewOutline(s.Request.History)
	if n := len(o.Exchanges); n > 0 && o.Exchanges[n-1].To == s.Request.History.Len() {
		doc.Pending = len(o.Exchanges[n-1].Open)
	}
}

// NewPlanReport returns a plan's report with every key there.
func NewPlanReport(r *plan.Report) PlanReport {
	d := PlanReport{Kept: r.Kept, Reduced: r.Reduced, Removed: r.Removed, Evidence: r.Evidence, Notes: append([]string{}, r.Notes...)}
	if d.Evidence == nil {
		d.Evidence = map[string]plan.Share{}
	}
	return d
}
