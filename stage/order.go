package stage

import (
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// order puts the stages that make tool output smaller behind Fold when they
// cannot reach the target: what they would reduce is folded anyway, from the
// originals.
func (r *run) order(stages []Stage) []Stage {
	fold := slices.IndexFunc(stages, func(s Stage) bool { return s.Name() == Fold{}.Name() })
	need := r.need()
	if fold < 0 {
		return stages
	}
	if r.goal.Summarise {
		return append([]Stage{stages[fold]}, slices.Delete(slices.Clone(stages), fold, fold+1)...)
	}
	state := r.d.Config.StateShare > 0
	if need.Tokens == 0 { // bytes or images
		if state {
			return gently(stages, fold)
		}
		return stages
	}
	tools := 0
	r.d.visible(0, r.d.Live, func(i int, _ []plan.Edit) {
		if r.d.History.At(i).Has(chat.ToolResult) {
			tools += r.d.tokensAt(i)
		}
	})
	switch enough := tools*9/10 >= need.Tokens; {
	case enough && state:
		return gently(stages, fold)
	case enough:
		return stages
	case state: // the fold splits the turn itself
		stages = slices.DeleteFunc(slices.Clone(stages), func(s Stage) bool { return s.Name() == SplitTurn{}.Name() })
		fold = slices.IndexFunc(stages, func(s Stage) bool { return s.Name() == Fold{}.Name() })
	}
	var first, later []Stage
	for i, s := range stages {
		if name := s.Name(); i < fold && (name == Supersede{}.Name() || name == Prune{}.Name()) {
			later = append(later, s)
			continue
		}
		first = append(first, s)
		if i == fold {
			first = append(first, later...)
		}
	}
	return first
}

// gently has old output pruned first only where that alone reaches the target
// and takes no text of a file as it stands; what is folded is pruned no more,
// and all other output only after that. A turn is split by the fold itself.
func gently(stages []Stage, fold int) []Stage {
	var out []Stage
	prune := false
	for i, s := range stages {
		switch s.Name() {
		case Prune{}.Name():
			prune = true
			if i < fold {
				out = append(out, Prune{gentle: true})
			}
		case SplitTurn{}.Name():
		default:
			out = append(out, s)
		}
		if i == fold && prune {
			out = append(out, Prune{})
		}
	}
	return out
}

// lastResort is a stage that loses more than it is worth while the request is
// below the trigger.
type lastResort interface{ lastResort() bool }
