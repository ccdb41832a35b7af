package show

import (
	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/plan"
)

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
