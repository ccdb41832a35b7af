package stage

import (
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// orderStages puts the stages that make tool output smaller behind Fold when they
// cannot reach the target: what they would reduce is folded anyway, from the
// originals.
func (r *run) orderStages(stages []Stage) []Stage {
	fold := slices.IndexFunc(stages, isFoldStage)
	need := r.sizeToSave()
	if fold < 0 {
		return stages
	}
	if r.goal.Summarise {
		return append([]Stage{stages[fold]}, slices.Delete(slices.Clone(stages), fold, fold+1)...)
	}
	if need.Tokens == 0 { // bytes or images
		return stages
	}
	tools := 0
	r.d.eachVisible(0, r.d.Live, func(i int, _ []plan.Edit) {
		if r.d.History.At(i).Has(chat.ToolResult) {
			tools += r.d.tokensAt(i)
		}
	})
	if tools*9/10 >= need.Tokens {
		return stages
	}
	var first, later []Stage
	for i, s := range stages {
		if name := s.Name(); i < fold && (name == "supersede" || name == "prune") {
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

// isFoldStage reports whether a stage makes a summary of older messages.
func isFoldStage(s Stage) bool {
	return s.Name() == "fold" || s.Name() == ladderStage{}.Name()
}
