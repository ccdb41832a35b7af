// Package show is how the command's reports look: colours and columns ([Style]),
// the meter of a window ([Style.Meter]), tables, and the documents that check and
// compact print as JSON ([Checked], [Compacted]).
//
// It needs the engine and a terminal, nothing else: programs that show reports
// need not link the whole command.
package show
