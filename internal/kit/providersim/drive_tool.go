package providersim

import (
	"slices"
	"strings"
)

// commandNames are names of parameters that take a command, best first.
var commandNames = []string{"command", "cmd", "commands", "script"}

// shellNames are parts of the names of tools that run commands.
var shellNames = []string{"bash", "shell", "exec", "terminal", "command"}

// shellTool finds the tool that runs a command: by what it is called and by a
// parameter that takes the command. Codex's newer models have one that runs
// programs instead, in which commands are called.
func shellTool(a *Ask) (Tool, bool) {
	for _, part := range shellNames {
		for _, t := range a.Tools {
			if strings.Contains(strings.ToLower(t.Name), part) && t.commandName() != "" {
				return t, true
			}
		}
	}
	for _, t := range a.sources {
		if t.Name == "exec" {
			return t, true
		}
	}
	return Tool{}, false
}

// shellCall calls a shell tool with a command.
func (t Tool) shellCall(command string) Block {
	if t.source {
		call := "const r = await tools.exec_command(" + string(encodeJSON(object{"cmd", command})) + ");\ntext(r.output);\n"
		return Block{Kind: Call, Name: t.Name, Args: call, source: true}
	}
	return Block{Kind: Call, Name: t.Name, Args: string(encodeJSON(t.shellArguments(command)))}
}

// commandName returns the parameter that takes the command; "" for none.
func (t Tool) commandName() string {
	for _, name := range commandNames {
		if t.schema.path("properties", name).ok() {
			return name
		}
	}
	return ""
}

// shellArguments are arguments that a shell tool accepts: the command, and the
// least for whatever else it requires.
func (t Tool) shellArguments(command string) object {
	at := t.commandName()
	out := object{}
	properties := t.schema.get("properties")
	switch kind := typeOf(properties.get(at)); {
	case kind == "array" && at == "command":
		out = out.set(at, list{"bash", "-lc", command})
	case kind == "array":
		out = out.set(at, list{command})
	default:
		out = out.set(at, command)
	}
	for _, r := range t.schema.get("required").elems {
		if name := r.str(); name != at {
			out = out.set(name, leastValue(name, properties.get(name), 0))
		}
	}
	return out
}

// leastValue returns the smallest value that a schema allows: nothing found, nothing
// wrong, no further wishes.
func leastValue(name string, schema value, depth int) any {
	if one := schema.get("enum").elems; len(one) > 0 {
		return rawJSON(one[0].raw)
	}
	if choices := schema.firstOf("anyOf", "oneOf").elems; len(choices) > 0 {
		at := slices.IndexFunc(choices, func(s value) bool { return typeOf(s) == "null" })
		return leastValue(name, choices[max(at, 0)], depth+1)
	}
	switch typeOf(schema) {
	case "boolean":
		return false
	case "integer", "number":
		if strings.Contains(strings.ToLower(name), "timeout") {
			return max(60_000, schema.get("minimum").num(0))
		}
		return max(0, schema.get("minimum").num(0))
	case "array":
		return list{}
	case "null":
		return nil
	case "object":
		out := object{}
		for _, r := range schema.get("required").elems {
			if depth < 8 {
				out = out.set(r.str(), leastValue(r.str(), schema.path("properties", r.str()), depth+1))
			}
		}
		return out
	}
	return "Run the next part of the work"
}

// typeOf returns the first type that a schema names.
func typeOf(schema value) string {
	kind := schema.get("type")
	if kind.isArray() && len(kind.elems) > 0 {
		kind = kind.elems[0]
	}
	return strings.ToLower(kind.str())
}
