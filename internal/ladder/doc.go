// Package ladder says a conversation once, in the room there is.
//
// # The natural form
//
// A long conversation repeats itself: the same file read four times, edited in
// between, its text printed again by commands. Said once, almost nothing is
// lost, and a third to a half of the tokens is left:
//
//   - every file that was read or changed, as it stands now;
//   - every word that the user typed and that the agent said, in order;
//   - every action in one line with its verdict;
//   - the newest exchanges as they are.
//
// [Reading] reads a history into these items. [Reading.Fill] puts them into a
// room: the words and actions become the text of a fold, a dialogue; files and
// what is open become the text of the state that follows it. The newest
// exchanges are the caller's to leave alone.
//
// # The ladder
//
// Where the natural form does not fit, each item stands on one of several
// rungs, from whole to nothing:
//
//	what the user typed       whole, pastes shortened, first line with the sentences that bind
//	what the agent said       whole, its first lines; remarks on the way: their decision
//	an action                 its line, nothing
//	a result of no file       whole, its lines with values and errors, nothing
//	a run of lines of a file  whole, an outline, a short one, its line in the list of files
//
// One list holds every step up the ladder, of whatever item, with its worth.
// Fill takes the steps by falling worth until the room is full. The worth of
// most things falls with their age and with the root of their size:
//
//	worth = weight / ((age + 1000) * sqrt(tokens + 20))
//
// where age is the number of tokens that the history has after the item.
//
// A worked example, with a room of 3,000 tokens: a file of 900 tokens was read
// 5,000 tokens ago, another of 400 tokens 60,000 tokens ago, and the agent
// closed its first turn 60,000 tokens ago with a message of 120 tokens. The
// first lines of that message (30 tokens, weight 16) have a worth of
// 16/(61000*7.1) = 37e-6, the first file 1/(6000*30) = 5.5e-6, the whole message
// (weight 8) 8/(61000*11.8) = 11e-6 and the second file 1/(61000*20) = 0.8e-6:
// they are taken in the order first lines, whole message, first file, second
// file, which together fit.
package ladder
