// Package o200k counts tokens exactly as the o200k vocabulary does, which OpenAI's
// models from GPT-4o on use.
//
// Call [Count] for the number of tokens of a text. There is nothing to set up and
// nothing to close. The first call unpacks the embedded vocabulary, some hundredths
// of a second and about twelve megabytes; a program that never counts pays for
// neither. It may be called from any number of goroutines at once.
//
// # What is promised
//
// The count is that of the reference implementation for every text, with two
// conventions. The names of special tokens ("<|endoftext|>") are plain text,
// because a text that somebody sends must not be able to forge them. And a
// string that is not valid UTF-8 is counted as if every byte that cannot be
// decoded were U+FFFD, as a range loop sees it. Letters, marks, numbers and
// white space are those of package unicode; a character that a newer Unicode
// added after the Go release at hand counts as punctuation.
//
// Time is nearly linear in the length of the text, whatever the text is: a
// megabyte of one letter costs about as much as a megabyte of prose. That
// matters where strangers choose the text.
//
// # How it works
//
// A text is first cut into pieces by the published pattern: words with the
// character before them, up to three digits, runs of punctuation, white space.
// Most pieces are tokens themselves and cost one look into a hash table. The
// others are merged pair by pair, lowest rank first, and remembered in a
// small cache. The number of tokens of a text is the sum over its pieces.
package o200k

//go:generate go -C ../../tools run ./vocab -o ../internal/o200k/vocab.bin
