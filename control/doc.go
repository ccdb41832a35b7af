// Package control is what can be seen and done about conversations from outside:
// the nouns of winnow's HTTP interface, of its page and of its tools for models.
//
// A [Source] shows conversations and acts on them. Package transport makes one
// of what a tenant sent through a gateway, package session one of a store of
// sessions; both answer alike, so that whatever shows one shows the other. The
// gateway serves a source as JSON under /winnow/; docs/control.md lists the
// addresses.
//
// A conversation of a gateway is a leaf of the tree of messages that a tenant
// has sent: a request that goes on from a known one continues it, and one that
// branches off starts another, whose parent is the one it branched off from. A
// conversation of a store is a session.
//
// What is promised:
//
//   - Each action names the plan it is based on ([Base]). Where another one is in
//     force by now, nothing is changed and the error is a [*ConflictError], which
//     names it. So of two who act on what they see one succeeds, and the other is
//     told to look again.
//   - Numbers that a provider reported and numbers that were counted here are told
//     apart, and what is unknown is nil, never zero.
//   - An answer is bounded, however long the conversation is.
package control
