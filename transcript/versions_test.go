package transcript

import (
	"slices"
	"strings"
	"testing"
)

// Logs to which clients only append say by later lines what of the earlier ones
// still holds. Each case is such a log and the words of the messages that are
// left, in order.
func TestLaterLinesHold(t *testing.T) {
	const (
		geminiHead = `{"sessionId":"g1","projectHash":"ab","startTime":"2026-05-01T10:00:00Z","kind":"main"}` + "\n"
		codexHead  = `{"timestamp":"2026-05-01T10:00:00Z","type":"session_meta","payload":{"id":"c1"}}` + "\n"
	)
	user := func(s string) string {
		return `{"timestamp":"2026-05-01T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"` + s + `"}]}}` + "\n"
	}
	answer := func(s string) string {
		return `{"timestamp":"2026-05-01T10:00:02Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"` + s + `"}]}}` + "\n"
	}
	rolledBack := func(turns string) string {
		return `{"timestamp":"2026-05-01T10:00:03Z","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":` + turns + `}}` + "\n"
	}
	for _, c := range []struct{ name, data, want string }{
		{"gemini: a message is written again with its result", geminiHead +
			`{"id":"1","type":"user","content":"look"}` + "\n" +
			`{"id":"2","type":"gemini","content":"I will","toolCalls":[]}` + "\n" +
			`{"id":"2","type":"gemini","content":"I will","toolCalls":[{"id":"k","name":"ls","args":{}}]}` + "\n" +
			`{"$set":{"lastUpdated":"2026-05-01T10:00:05Z"}}` + "\n" +
			`{"id":"2","type":"gemini","content":"I will","toolCalls":[{"id":"k","name":"ls","args":{},"status":"success","result":[{"functionResponse":{"id":"k","name":"ls","response":{"output":"a.go"}}}]}]}` + "\n" +
			`{"id":"3","type":"gemini","content":"one file"}`, "look|I will|a.go|one file"},
		{"gemini: all messages come by $set", geminiHead +
			`{"$set":{"messages":[{"id":"1","type":"user","content":"hi"}]}}` + "\n" +
			`{"$set":{"messages":[{"id":"1","type":"user","content":"hi"},{"id":"2","type":"gemini","content":"hello"}]}}`, "hi|hello"},
		{"gemini: rewound, and the same id again", geminiHead +
			`{"id":"1","type":"user","content":"one"}` + "\n" +
			`{"id":"2","type":"user","content":"two"}` + "\n" +
			`{"$rewindTo":"2"}` + "\n" +
			`{"id":"2","type":"user","content":"three"}`, "one|three"},
		{"gemini: resumed under a second header", geminiHead + `{"id":"1","type":"user","content":"one"}` + "\n" +
			geminiHead + `{"id":"2","type":"user","content":"two"}`, "one|two"},
		{"codex: the last turn rolled back", codexHead + user("one") + answer("first") + user("two") + answer("second") +
			rolledBack("1") + user("three"), "one|first|three"},
		{"codex: more turns than there are", codexHead + user("one") + answer("first") + rolledBack("9") + user("two"), "two"},
		{"opencode: gone back to a message", `{"info":{"id":"s","revert":{"messageID":"m3"}},"messages":[` +
			`{"info":{"id":"m1","role":"user"},"parts":[{"type":"text","text":"one"}]},` +
			`{"info":{"id":"m2","role":"assistant"},"parts":[{"type":"text","text":"first"}]},` +
			`{"info":{"id":"m3","role":"user"},"parts":[{"type":"text","text":"two"}]},` +
			`{"info":{"id":"m4","role":"assistant"},"parts":[{"type":"text","text":"second"}]}]}`, "one|first"},
		{"opencode: gone back to a part", `{"info":{"id":"s","revert":{"messageID":"m2","partID":"p"}},"messages":[` +
			`{"info":{"id":"m1","role":"user"},"parts":[{"type":"text","text":"one"}]},` +
			`{"info":{"id":"m2","role":"assistant"},"parts":[{"type":"text","text":"first"},{"id":"p","type":"step-start"}]},` +
			`{"info":{"id":"m3","role":"user"},"parts":[{"type":"text","text":"two"}]}]}`, "one|first"},
		{"codex: an early version, in one document", `{"session":{"timestamp":"t","id":"c0","instructions":"be brief"},"items":[` +
			`{"type":"message","role":"user","content":[{"type":"input_text","text":"one"}]},` +
			`{"type":"function_call","name":"shell","call_id":"k","arguments":"{}"},` +
			`{"type":"function_call_output","call_id":"k","output":"a.go"}]}`, "one||a.go"},
		{"codex: a snapshot of the files is not sent", codexHead + user("one") +
			`{"timestamp":"2026-05-01T10:00:02Z","type":"response_item","payload":{"type":"ghost_snapshot","ghost_commit":{"id":"abc"}}}` + "\n" +
			answer("first"), "one|first"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sessions, err := Read([]byte(c.data), nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(sessions) != 1 {
				t.Fatalf("%d sessions, want 1", len(sessions))
			}
			if got := words(&sessions[0]); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// words returns what the messages of a session say, in order.
func words(s *Session) string {
	var all []string
	for _, m := range s.History.All() {
		text := m.Text()
		for i := range m.Parts {
			if text == "" {
				text = m.Parts[i].Text
			}
		}
		all = append(all, text)
	}
	return strings.Join(all, "|")
}

// People put files together, one after the other or as the elements of an array.
// No conversation gets lost by that, and none is taken for two.
func TestSeveralInOneFile(t *testing.T) {
	codex := func(id, fork, words string) string {
		return `{"timestamp":"t","type":"session_meta","payload":{"id":"` + id + `"` + fork + `}}` + "\n" +
			`{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"` + words + `"}]}}` + "\n"
	}
	claude := func(session, id, parent, words string) string {
		return `{"type":"user","uuid":"` + id + `","parentUuid":` + parent + `,"sessionId":"` + session + `","message":{"role":"user","content":"` + words + `"}}` + "\n"
	}
	pi := func(id, words string) string {
		return `{"type":"session","version":3,"id":"` + id + `","timestamp":"t"}` + "\n" +
			`{"type":"message","id":"e` + id + `","parentId":null,"timestamp":"t","message":{"role":"user","content":"` + words + `"}}` + "\n"
	}
	openCode := func(id, words string) string {
		return `{"info":{"id":"` + id + `"},"messages":[{"info":{"id":"m","role":"user"},"parts":[{"type":"text","text":"` + words + `"}]}]}`
	}
	gemini := func(id, words string) string {
		return `{"sessionId":"` + id + `","projectHash":"p","messages":[{"id":"1","type":"user","content":"` + words + `"}]}`
	}
	mini := func(words string) string {
		return `{"trajectory_format":"mini-swe-agent-1","info":{},"messages":[{"role":"user","content":"` + words + `"}]}`
	}
	lines := func(s string) string {
		return "[" + strings.Join(strings.Split(strings.TrimSpace(s), "\n"), ",\n") + "]"
	}
	for _, c := range []struct {
		name, data string
		want       []string
	}{
		{"codex", codex("a", "", "one") + codex("b", "", "two"), []string{"one", "two"}},
		{"codex, a fork with its origin's header later", codex("a", `,"forked_from_id":"b"`, "one") + codex("b", "", "two"), []string{"one|two"}},
		{"codex, resumed", codex("a", "", "one") + codex("a", "", "two"), []string{"one|two"}},
		{"codex, an array", lines(codex("a", "", "one")), []string{"one"}},
		{"claude", claude("a", "1", "null", "one") + claude("b", "2", "null", "two"), []string{"one", "two"}},
		{"claude, mixed", claude("a", "1", "null", "one") + claude("b", "2", "null", "two") + claude("a", "3", `"1"`, "three"), []string{"one|three", "two"}},
		{"claude, goes on under another id", claude("a", "1", "null", "one") + claude("b", "2", `"1"`, "two"), []string{"one|two"}},
		{"claude, an array", lines(claude("a", "1", "null", "one") + claude("a", "2", `"1"`, "two")), []string{"one|two"}},
		{"pi", pi("a", "one") + pi("b", "two"), []string{"one", "two"}},
		{"pi, an array", lines(pi("a", "one")), []string{"one"}},
		{"opencode, an array", "[" + openCode("a", "one") + "," + openCode("b", "two") + "]", []string{"one", "two"}},
		{"gemini cli, an array", "[" + gemini("a", "one") + "," + gemini("b", "two") + "]", []string{"one", "two"}},
		{"mini-swe-agent, an array", "[" + mini("one") + "," + mini("two") + "]", []string{"one", "two"}},
		{"request bodies, an array", `[{"messages":[{"role":"user","content":"one"}]},{"messages":[{"role":"user","content":"two"}]}]`, []string{"one", "two"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			sessions, err := Read([]byte(c.data), nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range sessions {
				got = append(got, words(&sessions[i]))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// A title that the client wrote counts, the latest one.
func TestClaudeTitle(t *testing.T) {
	const message = `{"type":"user","uuid":"1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"one"}}` + "\n"
	for _, title := range []string{
		`{"type":"ai-title","aiTitle":"Mend the ferry","sessionId":"s"}`,
		`{"type":"ai-title","title":"Mend the ferry","sessionId":"s"}`,
		`{"type":"custom-title","customTitle":"Mend the ferry","sessionId":"s"}`,
		`{"type":"summary","summary":"Mend the ferry","leafUuid":"1"}`,
	} {
		sessions, err := Read([]byte(message+title), nil)
		if err != nil || sessions[0].Title != "Mend the ferry" {
			t.Errorf("%s: %v, %q", title, err, sessions[0].Title)
		}
	}
}
