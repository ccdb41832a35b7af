// Package loop is winnow's own agent: a conversation with a model that calls
// tools, in a session that is compacted as it grows. It knows no terminal: a caller
// that shows the conversation gives it a [UI].
//
// A [Driver] takes lines as a person types them, keeps them in order while an answer
// runs, and knows the commands that start with a slash. A message begins a turn: the
// model is asked, the tools that it calls are run, and it is asked again until it has
// answered; then the driver says how full the window is and compacts if that is due.
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
