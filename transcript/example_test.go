package transcript_test

import (
	"fmt"

	"github.com/winnow-llm/winnow/transcript"
)

func ExampleRead() {
	log := `{"role":"system","content":"You keep the ferry timetable."}
{"role":"user","content":"When does the last ferry leave?"}
{"role":"assistant","content":"At 22:40."}
`
	sessions, err := transcript.Read([]byte(log), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	s := sessions[0]
	fmt.Println(s.Format, len(s.System), s.History.Len(), s.History.At(1).Text())
	// Output: openai 1 2 At 22:40.
}

func ExampleRead_error() {
	_, err := transcript.Read([]byte("{\"messages\": [\n{\"role\": \"us"), &transcript.Options{Name: "chat.json"})
	fmt.Println(err)
	// Output: chat.json:2: the JSON ends in the middle; the file was cut off: copy it again, or remove the broken end
}

func ExampleDetect() {
	format, saw, _ := transcript.Detect([]byte(`{"type":"session","version":3,"id":"a","timestamp":"2026-01-01T00:00:00Z","cwd":"/"}`))
	fmt.Println(format+":", saw)
	// Output: pi: a pi session header
}
