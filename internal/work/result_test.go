package work

import (
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

func TestStatus(t *testing.T) {
	source := "#!/bin/sh\nif [ -z \"$1\" ]; then\n  echo usage\n  exit 1\nfi\n"
	tests := []struct {
		text   string
		flag   bool
		failed bool
		exit   int
		known  bool
	}{
		{"all good", false, false, 0, false},
		{"all good", true, true, 0, false},
		{"Exit code 1\nsh: 1: foo: not found", false, true, 1, true},
		{"Exit code: 0\nWall time: 1 seconds\nOutput:\nok", false, false, 0, true},
		{"Chunk ID: ab\nWall time: 0.1 seconds\nProcess exited with code 101\nOutput:\nx", false, true, 101, true},
		{"<returncode>2</returncode>\n<output>\nno\n</output>", false, true, 2, true},
		{"lots\nof\nlines\n" + strings.Repeat("x\n", 50) + "\nCommand exited with code 7", false, true, 7, true},
		{"done\n[The command completed with exit code 0.]", false, false, 0, true},
		{"done\n[Command finished with exit code -9]", false, true, -9, true},
		{`{"output":"hi","metadata":{"exit_code":3,"duration_seconds":0.1}}`, false, true, 3, true},
		{`{"exit_code":0,"stdout":"Error: no"}`, false, false, 0, true},
		{`{"exitCode": "4"}`, false, true, 4, true},
		{`{"status":"error","message":"x"}`, false, true, 0, false},
		{`{"success":false}`, false, true, 0, false},
		{`{"error":null,"ok":true}`, false, false, 0, false},
		{`{"error":"boom"}`, false, true, 0, false},
		{`{"errors":[]`, false, false, 0, false},
		{"Error: user not found", false, true, 0, false},
		{"<tool_use_error>File does not exist.</tool_use_error>", false, true, 0, false},
		{source, false, false, 0, false},
		{strings.Repeat("line\n", 20) + "Process exited with code 9\n" + strings.Repeat("line\n", 20), false, false, 0, false},
		{"", false, false, 0, false},
	}
	for _, tt := range tests {
		failed, exit, known := Status(&chat.Part{Kind: chat.ToolResult, Text: tt.text, Failed: tt.flag})
		if failed != tt.failed || exit != tt.exit || known != tt.known {
			t.Errorf("Status(%.60q) = %v, %d, %v; want %v, %d, %v", tt.text, failed, exit, known, tt.failed, tt.exit, tt.known)
		}
	}
}

func TestRefused(t *testing.T) {
	for text, want := range map[string]bool{
		"The user doesn't want to proceed with this tool use. The tool use was rejected.": true,
		"Permission to use Bash with command rm has been denied.":                         true,
		"exec command rejected by user":                                                   true,
		"cat: /root/x: Permission denied":                                                 false,
		"Error: the server refused a connection.":                                         false,
	} {
		if _, got := Refusal(text); got != want {
			t.Errorf("Refusal(%q) = %v", text, got)
		}
	}
}
