// Package loop is winnow's own agent: a conversation with a model that calls
// tools, in a session that is compacted as it grows. It knows no terminal: a caller
// that shows the conversation gives it a [UI].
//
// An [Agent] runs turns: [Agent.Turn] takes a user's message, asks the model,
// runs the tools that it calls, and asks again until it has an answer;
// [Agent.Finish] ends the turn, says how full the window is and compacts if
// that is due. A [Driver] stands on top for a person: it takes lines as they are
// typed, keeps them in order while an answer runs, and knows the commands that
// start with a slash.
//
//	d, err := loop.NewDriver(ctx, host, ui, box, session, "openai/gpt-5-mini", loop.Options{})
//	d.Submit("Why does the build fail?")
//	d.Submit("/compact the build")      // waits until the answer is there
//	d.Interrupt()                       // cancels what runs
//	d.Close()
//
// What is promised: whatever happens, be it an error, a cancellation or the end
// of the process, the session stays one that a provider accepts. An answer that
// was cut off is kept as far as it came, and says that it was; a call that was
// made has an answer. A warning is true: when it says that compaction follows,
// it does.
package loop
