// Package console is a terminal for conversations: output goes on above while a
// line is typed below, and everything stays in the terminal's own scrollback.
//
// [Open] takes a terminal over, [Console.Close] gives it back as it was.
// [Console.Write] shows text, also pieces of a line as they come;
// [Console.Events] tells what the person did; [Console.Ask] asks a question and
// waits for the answer. [Console.Pause] hands the terminal to another program
// for a while, [Console.Resume] takes it back.
//
// It is a bubbletea program in the last rows of the screen: the unfinished line of
// output, a row of status and a text area. Whole lines of output are printed above it
// and never rewritten.
//
// Lines are edited with the usual keys; Alt-Enter, Ctrl-J or a backslash before
// Enter start a new line. A paste is one piece, however long; a long one is
// shown by its size only. Output goes through package termsafe: its own colours are
// colours, and what else would steer the terminal is shown as text.
package console
