// Package recall gives a model back what compaction hid from it.
//
// Views name hidden originals by handles, such as [original: w3kfa82nq]. A
// [Source] finds the original behind a handle, and searches what is hidden:
// [Over] makes one of a history and its plan, package transport one of a
// tenant's plans, package session one of a store. [Tools] makes two tools of a
// source, recall and search_history, which an agent's loop can register as they
// are; package mcpserver below this one serves them to MCP clients.
//
//	source := recall.Over(func() (chat.History, *plan.Plan) { return c.History(), c.Plan() })
//	for _, t := range recall.Tools(source) {
//		request.Tools = append(request.Tools, t.Def)
//	}
//
// What is promised: an answer is bounded, however large the original is, and
// says how to go on ([Page.Next]); every line of an original carries its number
// in front, so that text inside it cannot pass for text of the tool; an error
// says what to do instead, in words that a model can follow.
package recall
