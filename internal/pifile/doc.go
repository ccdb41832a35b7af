// Package pifile is the format of pi's session files, versions 1 to 3: a header,
// then one JSON object for each entry of a tree. Packages session and transcript
// read it, session writes it, and pibase computes with it.
//
// [Parse] finds the members of an entry, [ParseMessage] those of its message and
// [ParseBlock] those of a content block. Values stay as they stand in the record:
// readers differ in what they make of a broken one, and pi counts strings in
// units that UTF-8 does not have.
//
// [MessageDrafts] writes a message as entries; [Draft.Record] gives an entry its
// place in the tree. [WithPlace] and [WithoutHookRole] turn records of the
// versions 1 and 2 into version 3.
package pifile
