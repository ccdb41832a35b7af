// Package replay measures compaction: on real sessions, offline, with no model.
//
// Start with [Load], which reads session files, and [Run], which fills a
// [Board] with rows. A board can be written as a table ([Board.Table]), as a
// page in Markdown ([Board.Markdown]) and as JSON. The same sessions and options give
// the same board, byte for byte, on any number of cores.
//
// # The next edits
//
// What the agent does next decides. A session is cut where its context is full
// ([RunNext]); F is its next 30 calls. The old text of an edit is what it
// replaces: an old string, or a hunk's lines without the new ones. An edit is
// demanded when its old text stood as one run in a part before the cut and in no
// part of F before the edit. It is ready when the whole text stands in one message
// of the view as one run, under its file's path, in the newest version that the
// view shows. V is the share that is ready. Line numbers in front of lines are
// taken off, the indentation behind them is not; blanks at the ends of lines do
// not count; escapes are undone in the arguments of calls only; the plus signs of
// a patch stay. Beside each view stand [Rivals] of the same size, in characters,
// and what else the view holds ([FieldRow]): C is the share of the user's binding
// sentences (must, never, only …) of which 80 % of the words stand on one line.
//
// # The field
//
// [Field] measures single compactions where users are: in a window of 200,000
// tokens of which a fixed part is system prompt and tools, filled up with neutral
// text. Sessions are cut where the engine would compact with nothing set, or at a
// share of the room, then every 30,000 tokens. What counts is the request as it is
// sent, in which nothing marks what nobody typed. V is split by how far back the
// text was last seen; beside it stand the user's words and the agent's closing
// messages that are kept. Regret is what agents read again after the compactions
// that files record, and how much of it a view of the client's size has, beside
// places without a compaction. For sessions without files it looks for the values
// that the agent writes into its next calls.
//
// # A whole session
//
// Each recorded assistant message is one request. A [Policy] says what it would
// have sent; the recorded answer follows whatever was sent. A request that is larger
// than the window is refused: the column overflows counts those. Costs are those of
// a prefix cache: what a request shares with the one before is read from the cache,
// the rest is written.
//
// An edit whose old text is not in the request sent makes the agent read again: one
// more request, and the newest part that showed the text rides along until the
// policy rewrites. Dollars with re-reads are the figure that compares; rows with
// invalid views or overflows do not compete. The time lost is that of summaries
// that somebody waits for, and a median step of the session for each re-read.
//
// # What this is not
//
// Presence is not understanding. A fact that stands in the context can still be
// overlooked, and a fact that is gone may be found again by reading a file.
//
// Policies other than winnow's own follow what their authors document. Where
// one needs an LLM, a [StandIn] of a recorded summary's size takes its place, and the
// row says that it is simulated.
package replay
