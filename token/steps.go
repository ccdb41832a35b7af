package token

import "slices"

// keepSteps is how many calls of a conversation are remembered: enough to know how
// its counts compare with the provider's and how long its answers are, with the
// smallest prompt and the longest answer besides.
const keepSteps = 22

// Keep returns the steps of a conversation that are remembered once one more is known,
// oldest first: the newest, and among them the smallest prompt of the model, which
// holds what every request carries and so tells best what a request close to that will
// have, and the longest answer since the last rewrite, which the reserve is kept for.
// A call that was reported twice, or made again, is one step: the one with more tokens.
// All processes count alike from these steps: one that has heard of every call and
// one that has read these from a store.
func Keep(steps []Step, s Step) []Step {
	if n := len(steps); n > 0 && s.Repeats(&steps[n-1]) {
		if s.Usage.Context() < steps[n-1].Usage.Context() {
			return steps
		}
		steps = steps[:n-1]
	}
	return append(trimSteps(steps, s.Model), s)
}

// trimSteps returns a copy of the steps that leaves room for one more.
func trimSteps(steps []Step, model string) []Step {
	drop := len(steps) - (keepSteps - 1)
	if drop <= 0 {
		return slices.Clone(steps)
	}
	least, longest := -1, len(steps)-1
	for i := range steps {
		if steps[i].Model == model && (least < 0 || steps[i].Estimate < steps[least].Estimate) {
			least = i
		}
	}
	for i := len(steps) - 1; i >= 0 && steps[i].Plan == steps[len(steps)-1].Plan; i-- {
		if steps[i].Usage.Output >= steps[longest].Usage.Output {
			longest = i
		}
	}
	kept := make([]Step, 0, keepSteps)
	for i := range steps {
		switch {
		case i == least || i == longest:
		case drop > 0:
			drop--
			continue
		}
		kept = append(kept, steps[i])
	}
	return kept
}
