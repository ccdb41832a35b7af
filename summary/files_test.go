package summary

import (
	"slices"
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

func TestFiles(t *testing.T) {
	var msgs chat.Messages
	for _, s := range [][]chat.Message{
		stepOf("1", "Read", `{"file_path":"/w/src/a.go","offset":1,"limit":50}`, "package a"),
		stepOf("2", "Read", `{"file_path":"/w/src/a.go","offset":40,"limit":60}`, "package a"),
		stepOf("3", "Read", `{"file_path":"/w/src/a.go","offset":200,"limit":10}`, "x"),
		stepOf("4", "bash", `{"command":"cat src/a.go | head -5"}`, "package a"),
		stepOf("5", "Write", `{"file_path":"/w/new.go","content":"package a"}`, "File created"),
		stepOf("6", "Edit", `{"file_path":"/w/new.go","old_string":"a","new_string":"b"}`, "updated"),
		stepOf("7", "Edit", `{"file_path":"/w/src/a.go"}`, "updated"),
		stepOf("8", "bash", `{"command":"rm /w/old.go && git mv /w/b.go /w/c.go"}`, ""),
		stepOf("9", "Read", `{"file_path":"/w/only.go"}`, "package only"),
		stepOf("10", "Read", `{"file_path":"/w/missing.go"}`, "<tool_use_error>File does not exist.</tool_use_error>"),
		stepOf("11", "Write", `{"file_path":"/w/only.go"}`, "ok"),
		stepOf("12", "Edit", `{"file_path":"/w/broken.go"}`, "Error: no match"),
		stepOf("13", "Read", `{"file_path":"/w/readme.md"}`, "hello"),
		{chat.CallMessage("", chat.Call("14", "Write", `{"file_path":"/w/unanswered.go"}`))},
	} {
		msgs = append(msgs, s...)
	}
	files := Files(msgs, 0, len(msgs), nil)
	if want := []string{"/w/readme.md"}; !slices.Equal(files.Read, want) {
		t.Errorf("read only %v, want %v", files.Read, want)
	}
	if want := []string{"/w/b.go", "/w/c.go", "/w/new.go", "/w/old.go", "/w/only.go", "/w/src/a.go"}; !slices.Equal(files.Modified, want) {
		t.Errorf("modified %v, want %v", files.Modified, want)
	}
}

func stepOf(id, name, args, result string) []chat.Message {
	return []chat.Message{chat.CallMessage("", chat.Call(id, name, args)), chat.ResultMessage(id, result)}
}

func TestFooter(t *testing.T) {
	// The lists of files as other systems write them, and the exact form of the footer.
	tests := []struct {
		read, modified []string
		want           string
	}{
		{nil, nil, ""},
		{[]string{"a"}, nil, "\n\n<read-files>\na\n</read-files>"},
		{nil, []string{"b"}, "\n\n<modified-files>\nb\n</modified-files>"},
		{[]string{"a", "b"}, []string{"b", "c"}, "\n\n<read-files>\na\n</read-files>\n\n<modified-files>\nb\nc\n</modified-files>"},
		{[]string{"b"}, []string{"b"}, "\n\n<modified-files>\nb\n</modified-files>"},
	}
	for _, tt := range tests {
		l := FileList{Read: tt.read, Modified: tt.modified}
		if got := l.Footer(); got != tt.want {
			t.Errorf("footer of %+v: %q, want %q", l, got, tt.want)
		}
	}
}
