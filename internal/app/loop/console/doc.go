// Package console is a terminal for conversations: output goes on above while a
// line is typed below, and everything stays in the terminal's own scrollback.
//
// [Open] takes a terminal over, [Console.Close] gives it back as it was.
// [Console.Write] shows text, also pieces of a line as they come;
// [Console.Events] tells what the person did; [Console.Ask] asks a question and
// waits for the answer. [Console.Pause] hands the terminal to another program
// for a while, [Console.Resume] takes it back.
//
// The last rows are the console's: a row of status and the line that is typed.
// They are drawn again after every output. Nothing above them is ever
// rewritten, except that an unfinished line of output grows; so a wrong guess
// about the width of a character or about how a terminal reflows on a resize
// leaves a stray row at worst.
//
// Lines are edited with the usual keys; Alt-Enter, Ctrl-J or a backslash before
// Enter start a new line. A paste is one piece, however long; a long one is
// shown by its size only. Output goes through package termsafe: its own colours are
// colours, and what else would steer the terminal is shown as text.
package console
