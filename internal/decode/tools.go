package decode

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
)

// Tools returns tool definitions in any of the four shapes: OpenAI's chat
// (wrapped in "function"), OpenAI's responses, Anthropic's ("input_schema") and
// Gemini's ("functionDeclarations"). A provider's own tool has its type as its
// name where it has no other, and its definition as its schema.
func Tools(raw jsontext.Value) ([]chat.ToolDef, error) {
	if isAbsent(raw) {
		return nil, nil
	}
	if raw.Kind() == '{' { // Gemini accepts a single one
		return appendTool(nil, raw)
	}
	if raw.Kind() != '[' {
		return nil, wrongType(raw, "an array of tools")
	}
	var out []chat.ToolDef
	for i, v := range Elements(raw) {
		var err error
		if out, err = appendTool(out, v); err != nil {
			return out, errorAt(err, i)
		}
	}
	return out, nil
}

func appendTool(out []chat.ToolDef, raw jsontext.Value) ([]chat.ToolDef, error) {
	if raw.Kind() != '{' {
		return out, wrongType(raw, "a tool")
	}
	f := fields{}
	t := chat.ToolDef{Wire: len(raw)}
	kind, only := "", ""
	for k, v := range Members(raw) {
		only = k
		switch k {
		case "type":
			kind = f.str(k, v)
		case "name":
			t.Name = f.str(k, v)
		case "description":
			t.Description = f.str(k, v)
		case "parameters", "input_schema", "inputSchema", "parametersJsonSchema":
			t.Schema = string(v)
		case "function", "custom":
			if v.Kind() == '{' {
				inner, err := appendTool(nil, v)
				if err != nil {
					return out, errorAt(err, k)
				}
				inner[0].Wire = len(raw)
				return append(out, inner[0]), nil
			}
		case "functionDeclarations", "function_declarations":
			for i, d := range Elements(v) {
				var err error
				if out, err = appendTool(out, d); err != nil {
					return out, errorAt(errorAt(err, i), k)
				}
			}
			return out, nil
		}
	}
	if t.Name == "" {
		if t.Name = kind; t.Name == "" {
			t.Name = strings.Clone(only) // {"googleSearch": {}}
		}
		if t.Schema == "" {
			t.Schema = string(raw)
		}
	}
	return append(out, t), f.err
}
