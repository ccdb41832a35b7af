package wire

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
)

// geminiTurn is what counts in an element of contents.
type geminiTurn struct {
	role             string
	calls, responses []jsontext.Value
	signed           bool // the first call has a signature
}

func (c *checker) checkGemini() {
	if len(c.raw) > geminiBytes {
		c.addProblem(ruleSize, -1, "", "the body has %d bytes where %d are allowed; remove inline data", len(c.raw), geminiBytes)
	}
	if len(c.elems) == 0 {
		c.addProblem(ruleNoMessages, -1, "contents", "contents is empty; add the user's")
	}
	turns := make([]geminiTurn, len(c.elems))
	for i := range c.elems {
		turns[i] = c.readGeminiTurn(i)
	}
	for i := range turns {
		t := &turns[i]
		var prev geminiTurn
		if i > 0 {
			prev = turns[i-1]
		}
		if len(t.calls) > 0 && prev.role != "user" {
			c.addProblem(ruleCallOrder, i, "", "a function call turn must come immediately after a user turn or a function response turn; join it to the model's content before it, or put a user's before it")
		}
		if len(t.responses) > 0 && len(prev.calls) == 0 {
			c.addProblem(RuleOrphan, i, "", "a function response turn must come immediately after a function call turn; make the responses texts, or remove them")
		} else if len(t.responses) > 0 {
			c.checkResponseParts(i, prev.calls, t.responses)
		}
		if len(t.calls) > 0 && (i+1 == len(turns) || len(turns[i+1].responses) == 0) {
			c.addProblem(RuleUnanswered, i, "", "%d function calls have no responses in the next content; add them, or remove the calls", len(t.calls))
		}
	}
	c.checkSignatures(turns)
	c.checkImages(geminiImages)
}

func (c *checker) readGeminiTurn(i int) geminiTurn {
	m := c.elementAt(i)
	t := geminiTurn{}
	if m.Kind() != '{' {
		c.addProblem(RuleShape, i, "", "%s where a content is expected", decode.TypeName(m))
		return t
	}
	switch role := decode.Str(m, "role"); role {
	case "user", "", "function", "tool":
		t.role = "user"
	case "model":
		t.role = "model"
	default:
		c.addProblem(ruleRole, i, "role", "%q is not a role; use user or model", role)
	}
	n := 0
	parts := decode.Member(m, "parts")
	for k, p := range decode.Elements(parts) {
		n++
		c.checkGeminiPart(i, k, &t, p)
	}
	if parts.Kind() == '{' || parts.Kind() == '"' {
		n++
		c.checkGeminiPart(i, 0, &t, parts)
	}
	if n == 0 {
		c.addProblem(ruleEmpty, i, "parts", "the content has no parts; remove it or add a text")
	}
	return t
}

func (c *checker) checkGeminiPart(i, k int, t *geminiTurn, p jsontext.Value) {
	path := fmt.Sprintf("parts.%d", k)
	if p.Kind() != '{' {
		if p.Kind() != '"' {
			c.addProblem(RuleShape, i, path, "%s where a part is expected", decode.TypeName(p))
		}
		return
	}
	signed, known := false, false
	for name, v := range decode.Members(p) {
		switch name {
		case "thoughtSignature", "thought_signature":
			signed = v.Kind() == '"' && len(v) > 2
		case "thought", "videoMetadata", "video_metadata", "partMetadata", "part_metadata", "mediaResolution", "media_resolution":
		default:
			known = known || !isNull(v)
		}
	}
	for name, v := range decode.Members(p) {
		if isNull(v) {
			continue
		}
		switch name {
		case "text":
			if v.Kind() == '"' && len(v) == 2 && !signed {
				c.addProblem(ruleEmptyText, i, path, "the text is empty; remove the part")
			}
		case "functionCall", "function_call":
			if t.role == "user" {
				c.addProblem(ruleRole, i, path, "a user's content has a function call; only the model's can")
				continue
			}
			if len(t.calls) == 0 {
				t.signed = signed
			}
			t.calls = append(t.calls, v)
			if a := decode.Member(v, "args"); !isNull(a) && a.Kind() != '{' {
				c.addProblem(ruleArguments, i, path, "the call's args are %s where an object is expected", decode.TypeName(a))
			}
		case "functionResponse", "function_response":
			if t.role == "model" {
				c.addProblem(ruleRole, i, path, "a model's content has a function response; only a user's can")
				continue
			}
			t.responses = append(t.responses, v)
			if decode.Member(v, "response").Kind() != '{' {
				c.addProblem(RuleShape, i, path, "the function response has no object as its response")
			}
		case "inlineData", "inline_data", "fileData", "file_data":
			if mime := decode.Str(v, "mimeType") + decode.Str(v, "mime_type"); len(mime) > 6 && mime[:6] == "image/" {
				c.images++
			}
		}
	}
	if !known && !signed {
		c.addProblem(ruleEmpty, i, path, "the part has no data; remove it")
	}
}

// checkResponseParts checks that responses answer the calls of the turn before.
func (c *checker) checkResponseParts(i int, calls, responses []jsontext.Value) {
	if len(calls) != len(responses) {
		c.addProblem(ruleResultCount, i, "", "the number of function response parts (%d) must be equal to the number of function call parts (%d) of the function call turn; add or remove some", len(responses), len(calls))
	}
	ids := map[string]int{}
	all := true
	for _, v := range calls {
		id := decode.Str(v, "id")
		all = all && id != ""
		ids[id]++
	}
	for k, v := range responses {
		id := decode.Str(v, "id")
		if id == "" || !all {
			continue
		}
		if ids[id]--; ids[id] < 0 {
			c.addProblem(RuleOrphan, i, fmt.Sprintf("parts.%d", k), "the function response %q answers no call of the turn before; give it the call's id, or remove it", id)
		}
	}
}

// checkSignatures checks the current turn: where the model signs its thoughts, the
// first call of each step must carry its signature. That it does shows anywhere
// in the conversation; whether earlier turns are complete does not matter.
func (c *checker) checkSignatures(turns []geminiTurn) {
	from := len(turns)
	for from > 0 && !(turns[from-1].role == "user" && len(turns[from-1].responses) == 0) {
		from--
	}
	any := false
	for _, t := range turns {
		any = any || len(t.calls) > 0 && t.signed
	}
	for i := from; any && i < len(turns); i++ {
		if len(turns[i].calls) > 0 && !turns[i].signed {
			c.addProblem(ruleSignature, i, "", "the function call is missing a thought_signature; keep the one it came with, or use %q", dummySignature)
		}
	}
}
