// Package token counts tokens: of texts, of messages and of whole requests,
// for models whose vocabulary is public and for those whose is not.
//
// Start with [New] and a [Family]; the model package knows which family a model
// belongs to. A [Counter] counts by a boundary table: it looks at each byte and
// its two neighbours and adds up how likely a token starts there, at about a
// gigabyte per second, with most texts within some 7 % of the truth. With
// Options.Exact it uses the o200k vocabulary: exact for that family, within
// about 5 % for most others. Counters are safe for concurrent use and remember
// messages by content, so counting a history again costs next to nothing.
//
// Tables know the languages they were made from. Other scripts, symbols and
// emoji are counted with the vocabulary or by their bytes, so that they are not
// counted too low: most vocabularies spell them byte by byte. Stretches that repeat
// themselves are counted with the vocabulary, too: there a table's errors add up.
//
// Nothing beats what the provider itself reports. Feed each call's usage to a
// [Ledger]; it predicts the next prompt from the last one and only estimates
// what came after.
//
// Every number comes as a [Count] with its method and its band. Compare
// Count.Upper with a limit; add no safety factor of your own.
//
// Images have a fixed cost and are never counted as base64 text; a file of text
// that comes in base64 counts as the text it holds. Strings that
// look like special tokens count as plain text. All counting is linear in the
// text, whatever the text is.
//
// The estimators of other systems are available through [Named] for comparison, and
// [New] takes their names for families.
package token
