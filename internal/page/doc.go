// Package page is winnow's web page: what the context of conversations is spent
// on, request by request, what each compaction did, as a patch, and how to take
// it back. It shows any [control.Source]; docs/page.md describes it.
//
// [Handler] serves the page itself, which is in the binary, for a gateway that
// has the interface beside it. [Server] serves both on this machine for one
// person, who comes in by a one-time address. [Write] makes one file of the page
// with everything in it.
//
// No text of a conversation can become markup or code: the page sets text nodes
// only, and its policy allows no script but its own and no markup from strings.
package page

//go:generate ../../tools/page/bundle web dist
