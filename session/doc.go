// Package session keeps a conversation that lives: for days, over restarts,
// with branches, and with every compaction reversible.
//
// A session is a tree of entries with a leaf. [Create] makes one in a [Store],
// [Open] opens one. An agent's loop then looks like this:
//
//	s, err := session.Open(ctx, store, id, &session.Options{Settings: settings})
//	s.Begin()                                   // a turn starts
//	s.Append(ctx, chat.TextMessage(chat.User, "Fix the build."))
//	call, err := s.Next(ctx)                    // compacts if that is due
//	s.Answered(ctx, answer, usage)              // what the model said, and what that cost
//	s.End(ctx)                                  // the turn is over: compacts if that is due
//
// [Session.Context] is what the model sees: the history on the path to the leaf
// with the plan in force applied. [Session.Compact] rewrites it now,
// [Session.Rewind] takes one compaction back, [Session.Navigate] moves the leaf
// and can leave a summary of the branch behind, [Session.Fork] starts a new
// session from a place in this one.
//
// What is promised: an entry that was acknowledged is on the disk. Entries are
// only ever added; nothing is rewritten, so every earlier state of the
// conversation is still there. A compaction is there whole or not at all.
// Messages that arrive while a summary is being made are kept, in order.
//
// Records are those of pi's session files, version 3, in every store. A session
// that winnow continued can be opened by pi, which sees the same conversation:
// compactions as summary and first kept entry, masks as context edits.
//
// The stores are in the packages jsonl and sqlite below this one; [NewMemory]
// makes one that keeps nothing. Package sessiontest checks stores. [Search] finds
// words in all of them, and package neurolink reads and writes conversations
// that are tagged instead of planned.
//
// Settings are in [Options], or come from a function there that is asked before
// every check, so that a change takes effect at once.
package session
