// Package ptytest runs a command in a real pseudo-terminal and lets a test see
// what a person would see.
//
// Start runs the command on a screen of a given size. Send presses keys, Paste
// pastes, Resize drags the window; WaitFor waits until a text stands on the
// screen, Wait until the command is over. CheckSane then tells whether the
// terminal was left as a shell needs it.
//
//	term := ptytest.Start(t, 80, 24, exec.Command(winnow, "tree", "session.jsonl"))
//	term.WaitFor("? help")
//	term.Send(ptytest.Down, ptytest.Enter)
//	term.Resize(200, 50)
//	term.Send("q")
//	if code := term.Wait(); code != 0 { … }
//	term.CheckSane()
//
// Every wait has a deadline of Deadline and fails with the screen in its
// message, and with what the command was doing, which a Go program tells. Cells
// has the screen with its colours, for pictures.
package ptytest
