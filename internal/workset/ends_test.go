package workset

import (
	"strings"
	"testing"
)

// What random histories found about the ends of files and of what is known of
// them: each left a line certain that was not the file's.
func TestEndsOfWhatIsKnown(t *testing.T) {
	read := func(k *talk, from int, result string) {
		k.call("Read", object("file_path", "/w/a.go", "offset", from, "limit", strings.Count(result, "→")), result)
	}
	edit := func(k *talk, old, now string, all bool) {
		k.call("Edit", object("file_path", "/w/a.go", "old_string", old, "new_string", now, "replace_all", all), "The file /w/a.go has been updated successfully.")
	}
	for _, tc := range []struct {
		name string
		do   func(k *talk)
		want string
	}{
		{"a text that overlaps itself stands once more, from before the region on", func(k *talk) {
			read(k, 2, "     2→x: 12\n     3→\n     4→x: 12\n     5→\n     6→y")
			edit(k, "\nx: 12\n\n", "", false) // line 1 may end where the text begins
		}, "@2\n?x: 12\n?y\n"},
		{"a text that cannot overlap itself near the start of what is known", func(k *talk) {
			read(k, 2, "     2→x: 12\n     3→y: 34\n     4→z")
			edit(k, "x: 12\ny: 34\n", "x: 34\n", false)
		}, "@2\nx: 34\nz\n"},
		{"a text whose last line is how the line begins that it was found in", func(k *talk) {
			read(k, 2, "     2→x: 12\n     3→x: 1\n     4→z")
			edit(k, "x: 12\nx: 1", "y", false)
		}, "@2\n?y\n?z\n"},
		{"a text in lines that were dropped stands perhaps elsewhere", func(k *talk) {
			read(k, 1, "     1→a\n     2→x: 12\n     3→y: 34\n     4→z")
			read(k, 1, "     1→b")
			read(k, 9, "     9→x: 12")
			edit(k, "x: 12\ny: 34\n", "", false) // line 10 may be the y that is meant
		}, "@1\n?b\n@9\n?x: 12\n"},
		{"a text that overlaps itself where all before it is known", func(k *talk) {
			read(k, 1, "     1→a\n     2→x\n     3→b\n     4→y")
			edit(k, "\nx\n", "\n", false)
		}, "@1\na\nb\ny\n"},
		{"a second empty line may stand behind the last that is counted", func(k *talk) {
			k.call("Read", object("file_path", "/w/a.go"), "     1→a\n     2→b\n     3→")
			edit(k, "b\n", "c\n\n", false)
		}, "@1\na\nc\n"},
		{"a line that is appended may continue one that is certain, before others that may be gone", func(k *talk) {
			read(k, 2, "     2→b")
			k.call("Bash", object("command", "git checkout other"), "Switched to branch 'other'")
			read(k, 1, "     1→a")
			k.call("Bash", object("command", "cat >> /w/a.go <<'EOF'\nc\nEOF"), "")
		}, "@1\n?a\n?b\n~c\n\n"},
		{"a text that stands in doubted lines may be that of a certain line with its newline", func(k *talk) {
			k.call("Write", object("file_path", "/w/a.go", "content", "\n\treturn nil"), "The file was written.")
			k.call("Bash", object("command", "git checkout other"), "Switched to branch 'other'")
			read(k, 1, "     1→\treturn nil")
			edit(k, "\treturn nil\n", "x\n", false)
		}, "@1\n?\treturn nil\n~x\n\n"},
		{"an empty text before lines that may be gone is perhaps no line", func(k *talk) {
			mini := func(command, out string) {
				k.call("bash", object("command", command), "<returncode>0</returncode>\n<output>\n"+out+"</output>")
			}
			mini("sed -n '1,2p' /w/a.go", "a\n\n")
			mini("git checkout other", "Switched to branch 'other'\n")
			mini("head -n 1 /w/a.go", "a\n")
			k.call("str_replace_editor", object("command", "str_replace", "path", "/w/a.go", "old_str", "a", "new_str", ""), "The file /w/a.go has been edited.")
		}, "@1\n?\n?\n"},
		{"the last line that a shell shows may have lost its blanks", func(k *talk) {
			k.call("Bash", object("command", "sed -n '1,3p' /w/a.go"), "a \nb\nc")
		}, "@1\na \nb\n"},
		{"nothing is left of a file, if it was what it had been", func(k *talk) {
			k.call("Write", object("file_path", "/w/a.go", "content", "\n"), "The file was written.")
			k.call("Bash", object("command", "git checkout other"), "Switched to branch 'other'")
			edit(k, "\n", "", true)
		}, ""},
		{"a hunk whose blanks do not fit may fit where the file is not known", func(k *talk) {
			read(k, 1, "     1→one\n     2→line := 1\n     3→line := 1")
			k.call("apply_patch", object("input", "*** Begin Patch\n*** Update File: /w/a.go\n@@\n-line := 1\n-\tline := 1\n+x\n*** End Patch"), "Success. Updated the following files:\nM /w/a.go\n")
		}, "@1\n?one\n?line := 1\n?line := 1\n~x\n\n"},
		{"a line that loses its newline runs on into what stands behind it, which may be known", func(k *talk) {
			read(k, 3, "     3→three\n     4→four")
			read(k, 6, "     6→more\n     7→last")
			edit(k, "not known", "not\nknown", false) // the lines may have moved
			edit(k, "four\n", "4", false)
		}, "@3\n?three\n?four\n@6\n?more\n?last\n~not\nknown\n~4\n"},
		{"a text that begins inside a line is not that line with other blanks", func(k *talk) {
			read(k, 1, "     1→one\n     2→\treturn something\n     3→\tand something else")
			edit(k, "return something\n\tand something else\n", "x\n", false)
		}, "@1\n?one\n?\treturn something\n?\tand something else\n~x\n\n"},
	} {
		k := &talk{}
		tc.do(k)
		if got := drawn(k.set().File("/w/a.go")); got != tc.want {
			t.Errorf("%s: got\n%swant\n%s", tc.name, got, tc.want)
		}
	}
}
