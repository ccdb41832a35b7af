package evidence

import (
	"testing"

	"github.com/winnow-llm/winnow/internal/work"
)

// The names in front of kinds.go are among these.
func TestKindsOf(t *testing.T) {
	for name, want := range map[string]ToolKind{
		"Read": Read, "read_file": Read, "readFile": Read, "READ": Read, "mcp__fs__read_file": Read, "mcp__fs__readFile": Read, "functions.read_file": Read,
		"default_api:read_file": Read, "view": Read, "get_user_details": Read, "mcp__Browser__read_console_messages": Read,
		"Write": Write, "write_to_file": Write, "create_file": Write, "filesystem/write_file": Write,
		"str_replace_editor": Edit, "apply_patch": Edit, "MultiEdit": Edit, "search_and_replace": Edit, "search_replace_in_files": Edit,
		"update_reservation_flights": Edit, "edit-file": Edit,
		"delete_file": Delete, "removeDirectory": Delete,
		"Grep": Search, "list_directory": Search, "codebase_search": Search, "searchSymbols": Search, "findReferences": Search,
		"Bash": Shell, "exec_command": Shell, "write_stdin": Shell, "developer__shell": Shell, "runTests": Shell, "functions.exec": Shell,
		"TodoWrite": Other, "todo_write": Other, "update_plan": Other, "Task": Other, "think": Other, "finish": Other, "create_task": Other,
		"cancel_reservation": Other, "": Other, "__": Other, ".": Other, "日本語": Other,
	} {
		if got := DefaultKinds().Of(name); got != want {
			t.Errorf("Of(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestKindsWith(t *testing.T) {
	k := DefaultKinds().With(map[string]ToolKind{"Peruse-It": Read, "bash": Other, "mcp__a__get": Search})
	for name, want := range map[string]ToolKind{"peruse_it": Read, "perUseIt": Read, "Bash": Other, "mcp__a__get": Search, "mcp__b__get": Read, "grep": Search} {
		if got := k.Of(name); got != want {
			t.Errorf("Of(%q) = %v, want %v", name, got, want)
		}
	}
	if got := DefaultKinds().Of("bash"); got != Shell {
		t.Errorf("With changed the table it was called on: bash is %v", got)
	}
	var none *Kinds
	if got := none.Of("bash"); got != Shell {
		t.Errorf("nil Kinds: bash is %v, want the default", got)
	}
}

func TestToolKindNames(t *testing.T) {
	seen := map[string]bool{"": true, "unknown": true}
	for k := Other; k <= Shell; k++ {
		if seen[k.String()] {
			t.Errorf("kind %d is called %q", k, k)
		}
		seen[k.String()] = true
	}
}

// The kinds are those of the package that reads calls.
func TestKindsOfWork(t *testing.T) {
	tools := [...]work.Tool{Other: work.ToolOther, Read: work.ToolRead, Write: work.ToolWrite, Edit: work.ToolEdit, Delete: work.ToolDelete, Search: work.ToolSearch, Shell: work.ToolShell}
	for kind, tool := range tools {
		if ToolKind(tool) != ToolKind(kind) {
			t.Errorf("tool %d is not of kind %v", tool, ToolKind(kind))
		}
	}
}
