package evidence_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
)

// lines repeats a line with the numbers from 1 to n in it.
func lines(n int, format string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(format, "#", fmt.Sprint(i+1)) + "\n")
	}
	return b.String()
}

func TestStandsOut(t *testing.T) {
	prose := ""
	words := strings.Fields("lease batch cursor header lock deadline retry page index cache shard queue")
	for i := range 36 {
		prose += words[i%12] + " and " + words[(i*5+i/12)%12] + " waits.\n"
	}
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"a test run":       {lines(40, "ok   pkg/store_#.go:# took #ms") + "retry_limit = 77\n" + lines(40, "ok   pkg/wal_#.go:# took #ms"), []string{"retry_limit = 77"}},
		"two forms":        {lines(40, "ok   pkg/store_#.go took #ms\n--- PASS: Test# (#s)") + "the port is 8112\n", []string{"the port is 8112"}},
		"prose":            {prose + "It is kept in var/cache/4711/index.db.\n" + prose, []string{"It is kept in var/cache/4711/index.db."}},
		"a few lines":      {lines(5, "ok   pkg/store_#.go took #ms") + "retry_limit = 77\n", nil},
		"source code":      {"func a(x int) int {\n\treturn x + 1\n}\n\ntype b struct {\n\tname string\n}\n\nvar c = 3\nconst d = 4\nfor i := range 9 {\n\tgo run(i)\n}\nif err != nil {\n\tpanic(err)\n}\n", nil},
		"blank and braces": {lines(20, "ok   pkg/store_#.go took #ms") + "\n}\n---\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var f evidence.Forms
			f.Read(lines(50, "x # y")) // what was read before does not matter
			f.Read(c.text)
			var got []string
			for i, l := range strings.Split(c.text, "\n") {
				if f.StandsOut(i) {
					got = append(got, l)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestSkeletonKeepsTheOddLine: what a long output says in one line is in its
// skeleton, word for word, also where the output begins with a bracket.
func TestSkeletonKeepsTheOddLine(t *testing.T) {
	const fact = "cache_of_004 = var/cache/832316137/index.db"
	for _, form := range []string{
		"ok   internal/store/lease_#.go:# checksum #999 took #ms, header read",
		"[#] compiled internal/store/lease_#.go: lock held",
	} {
		call := &chat.Part{Kind: chat.ToolCall, Name: "bash", Args: `{"command":"sh drive.sh 4"}`}
		result := &chat.Part{Kind: chat.ToolResult, Text: lines(60, form) + fact + "\n" + lines(60, form)}
		if got := evidence.Skeleton(call, result, 80, nil); !strings.Contains(got, fact+"\n") {
			t.Errorf("%s", got)
		}
	}
}

// TestCommandInProgram: the command that a program of Codex's runs is what the
// call is known by.
func TestCommandInProgram(t *testing.T) {
	for program, want := range map[string]string{
		"const r = await tools.exec_command({\"cmd\":\"sh drive.sh 4\"});\ntext(r.output);\n":  "sh drive.sh 4",
		"await tools.exec_command({\"cmd\":\"a\"}); await tools.exec_command({\"cmd\":\"b\"})": "await tools.exec_command({\"cmd\":\"a\"}); await tools.exec_command({\"cmd\":\"b\"})",
		"await tools.exec_command(cmd)": "await tools.exec_command(cmd)",
	} {
		a := (*evidence.Kinds)(nil).Access(&chat.Part{Kind: chat.ToolCall, Name: "exec", Args: fmt.Sprintf(`{"command":%q}`, program)})
		if a.Command != want {
			t.Errorf("%q", a.Command)
		}
	}
}
