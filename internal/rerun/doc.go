// Package rerun goes through a recorded conversation as if winnow had been there:
// before every answer that the recording has, the engine is asked what the model
// should see. So it shows for any agent's session where winnow would have
// compacted, what it would have kept, and what that costs beside what the agent's
// provider reported.
//
// [New] runs it and returns a [control.Source] of that one conversation, on
// which a person can act: compact, undo, pin. Nothing is written anywhere. [Start]
// runs it in the background, for who wants to show that it is on its way.
//
// What the provider reported belongs to what the agent sent. A request of the
// rerun carries it only where winnow would have sent the same; [Rerun.Beside] has
// both side by side.
package rerun
