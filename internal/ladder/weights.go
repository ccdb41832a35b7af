package ladder

// Weights say what is wanted most. The board of what each is worth comes from the
// test TestWithout of package replay.
type Weights struct {
	// How many times more a run of lines is wanted whose file the newest request
	// names, or the newest calls; of which a line is in doubt; whose file is in a
	// folder for files that nobody keeps.
	Named, Called, Unsure, Scratch float64

	// What is added to an item's age and to its tokens before they count.
	Age, Size float64

	// How much more a form of an item is wanted than a run of lines of the same
	// size and age: words, from their short form to the whole, then actions, then
	// what they returned.
	Asked, AskedMore, AskedWhole       float64
	Closing, ClosingEnds, ClosingWhole float64
	Remark, RemarkWhole                float64
	Report, ReportWhole                float64
	Notice, NoticeWhole                float64
	Once, Change, Run, Look            float64
	Result, ResultWhole                float64
	Outline                            float64
}

var weights = Weights{
	Named: 4, Called: 4, Unsure: 0.5, Scratch: 0.25, Age: 1000, Size: 20,
	Asked: 1000, AskedMore: 1000, AskedWhole: 8, Closing: 400, ClosingEnds: 200, ClosingWhole: 8, Remark: 2, RemarkWhole: 1, Report: 4, ReportWhole: 1,
	Notice: 2, NoticeWhole: 1, Once: 16, Change: 2, Run: 1, Look: 0.5, Result: 0.3, ResultWhole: 0.1, Outline: 0.1,
}

// InForce returns the weights in force, so that a measure can take one away: a form
// that weighs nothing is not shown. They must not change while a view is made.
func InForce() *Weights { return &weights }
