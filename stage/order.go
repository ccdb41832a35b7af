package stage

import "slices"

// orderStages puts the stage first that makes a summary, where that was asked for.
func (r *run) orderStages(stages []Stage) []Stage {
	fold := slices.IndexFunc(stages, isFoldStage)
	if fold < 0 || !r.goal.Summarise {
		return stages
	}
	return append([]Stage{stages[fold]}, slices.Delete(slices.Clone(stages), fold, fold+1)...)
}

// isFoldStage reports whether a stage makes a summary of older messages.
func isFoldStage(s Stage) bool {
	return s.Name() == "fold" || s.Name() == ladderStage{}.Name()
}
