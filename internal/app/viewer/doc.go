// Package viewer shows a session on the whole terminal: the tree of its entries, and
// the entry at its cursor as the model sees it and as it was.
//
// [New] makes a [Model] of an open session, which [Run] shows until the person
// leaves. Everything the person does goes through the session: pin, compact
// with a focus, take a compaction back, move the leaf, label. What a transcript
// of another program holds is put into a store in memory first
// ([session.NewMemory]), so that it can be tried without being kept.
//
// The model is pure: it changes by messages alone and everything that takes time
// is a command. So it runs without a terminal too, as the tests do.
//
// Long sessions stay fluid because only what is on the screen is looked at. The
// tree is listed by places, which hold no text; entries beside the path are read as
// they come on the screen. Of a message of megabytes the beginning is shown.
// Nothing that a transcript holds reaches the terminal before it was cleaned of
// escape sequences, controls and characters that change the order of others.
package viewer
