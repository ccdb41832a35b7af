package evidence

import (
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

// An escape before a name is not part of the name, whoever wrote it; a folder of
// a path on Windows is.
func TestEscapes(t *testing.T) {
	for _, c := range []struct {
		text string // as it stands, with its backslashes
		want string
	}{
		{`done\nFiles: src/io/pump.go`, "path io/pump.go"},
		{`(2 changed)\nfilesChanged:\tlineCount`, "ident filesChanged|ident lineCount"},
		{`"\nFILES_TO_KEEP"`, "ident FILES_TO_KEEP"},
		{`"\npump_it"`, "ident pump_it"},
		{`moved.\n\npump_it\n\t\tpumpAll`, "ident pump_it|ident pumpAll"},
		{`see the folder\nsrc/io/pump.go:12`, "path io/pump.go"},
		{`ok\n/srv/io/pump.go`, "path io/pump.go"},
		{`took\n1286 ms`, "num 1286"},
		{`\u003cpumpRow\u003e and \x1b[31m\033[0m`, "ident pumpRow"},
		{`grep '\bpumpAll\b' and "\\nPumpAll_1"`, "ident pumpAll|ident PumpAll_1"},
		{`src\net_pump.go and src\io\new_pump.go`, "path net_pump.go|path new_pump.go"},
		{`C:\new_pump.go C:\repo\test_pump.go .\run_all.py`, "path new_pump.go|path test_pump.go|path run_all.py"},
		{`C:\\repo\\nested_pump.go`, "path nested_pump.go"},
		{`src\tests/pump_test.py src\features.go`, "path tests/pump_test.py|path features.go"},
		{`\newPump app\node_modules`, "ident ewPump|ident node_modules"}, // nobody can tell: behind a name it is a folder
		{`\`, ""},
		{`\n`, ""},
		{`\u12`, ""},
	} {
		if got := strings.Join(found(c.text), "|"); got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}

// In the JSON of a call every escape is known by its backslashes.
func TestEscapesInCalls(t *testing.T) {
	args := `{"cmd":"run_pump \\u003c in.txt\nnew_pump \\\\nas\\test_pump\ttaskPump \u0026outPump \"\\nPumpAll_1\" src\/rack_pump"}`
	e := Extract(chat.Messages{chat.CallMessage("", chat.Call("1", "look_up", args))}, 0, 1, nil)
	var got []string
	for _, s := range e.Symbols {
		got = append(got, s.Name)
	}
	slices.Sort(got)
	want := []string{"PumpAll_1", "new_pump", "outPump", "run_pump", "taskPump", "test_pump"}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("%s is not among %v", w, got)
		}
	}
	for _, g := range got {
		if !slices.Contains(want, g) && g != "rack_pump" {
			t.Errorf("%s is nobody's name", g)
		}
	}
}
