package work

import (
	"testing"
)

// The names in front of kinds.go are among these.
func TestKindsOf(t *testing.T) {
	for name, want := range map[string]Tool{
		"Read": ToolRead, "read_file": ToolRead, "readFile": ToolRead, "READ": ToolRead, "mcp__fs__read_file": ToolRead, "mcp__fs__readFile": ToolRead, "functions.read_file": ToolRead,
		"default_api:read_file": ToolRead, "view": ToolRead, "get_user_details": ToolRead, "mcp__Browser__read_console_messages": ToolRead,
		"Write": ToolWrite, "write_to_file": ToolWrite, "create_file": ToolWrite, "filesystem/write_file": ToolWrite,
		"str_replace_editor": ToolEdit, "apply_patch": ToolEdit, "MultiEdit": ToolEdit, "search_and_replace": ToolEdit, "search_replace_in_files": ToolEdit,
		"update_reservation_flights": ToolEdit, "edit-file": ToolEdit,
		"delete_file": ToolDelete, "removeDirectory": ToolDelete,
		"Grep": ToolSearch, "list_directory": ToolSearch, "codebase_search": ToolSearch, "searchSymbols": ToolSearch, "findReferences": ToolSearch,
		"Bash": ToolShell, "exec_command": ToolShell, "write_stdin": ToolShell, "developer__shell": ToolShell, "runTests": ToolShell, "functions.exec": ToolShell,
		"TodoWrite": ToolOther, "todo_write": ToolOther, "update_plan": ToolOther, "Task": ToolOther, "think": ToolOther, "finish": ToolOther, "create_task": ToolOther,
		"cancel_reservation": ToolOther, "Artifact": ToolOther, "ToolSearch": ToolOther, "": ToolOther, "__": ToolOther, ".": ToolOther, "日本語": ToolOther,
	} {
		if got := DefaultKinds().Of(name); got != want {
			t.Errorf("Of(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestKindsWith(t *testing.T) {
	k := DefaultKinds().With(map[string]Tool{"Peruse-It": ToolRead, "bash": ToolOther, "mcp__a__get": ToolSearch})
	for name, want := range map[string]Tool{"peruse_it": ToolRead, "perUseIt": ToolRead, "Bash": ToolOther, "mcp__a__get": ToolSearch, "mcp__b__get": ToolRead, "grep": ToolSearch} {
		if got := k.Of(name); got != want {
			t.Errorf("Of(%q) = %v, want %v", name, got, want)
		}
	}
	if got := DefaultKinds().Of("bash"); got != ToolShell {
		t.Errorf("With changed the table it was called on: bash is %v", got)
	}
	var none *Kinds
	if got := none.Of("bash"); got != ToolShell {
		t.Errorf("nil Kinds: bash is %v, want the default", got)
	}
}

func TestToolKindNames(t *testing.T) {
	seen := map[string]bool{"": true, "unknown": true}
	for k := ToolOther; k <= ToolShell; k++ {
		if seen[k.String()] {
			t.Errorf("kind %d is called %q", k, k)
		}
		seen[k.String()] = true
	}
}
