package providersim

import (
	"math/rand/v2"
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
	return t.callWith(t.shellArguments(command))
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
	switch kind := typeOf(t.schema.path("properties", at)); {
	case kind == "array" && at == "command":
		return t.withRequired(object{at, list{"bash", "-lc", command}})
	case kind == "array":
		return t.withRequired(object{at, list{command}})
	}
	return t.withRequired(object{at, command})
}

// callWith calls a tool with arguments, and the least for what else it requires.
func (t Tool) callWith(args object) Block {
	if t.carrier != "" {
		return Block{Kind: Call, Name: t.carrier, Args: string(encodeJSON(object{"name", t.Name, "arguments", args}))}
	}
	return Block{Kind: Call, Name: t.Name, Args: string(encodeJSON(t.withRequired(args))), namespace: t.namespace}
}

// withRequired adds the least for what a tool requires besides.
func (t Tool) withRequired(args object) object {
	given := map[string]bool{}
	for i := 0; i+1 < len(args); i += 2 {
		given[args[i].(string)] = true
	}
	for _, r := range t.schema.get("required").elems {
		if name := r.str(); !given[name] {
			args = args.set(name, fillSchema(nil, name, t.schema.path("properties", name), 1))
		}
	}
	return args
}

// fillSchema makes a value that a JSON schema allows: by chance, or without it the least,
// which says nothing found, nothing wrong, no further wishes.
func fillSchema(r *rand.Rand, name string, schema value, depth int) any {
	draw := func(n int) int {
		if r == nil {
			return 0
		}
		return r.IntN(n)
	}
	if one := schema.get("enum").elems; len(one) > 0 {
		return rawJSON(one[draw(len(one))].raw)
	}
	if c := schema.get("const"); c.ok() {
		return rawJSON(c.raw)
	}
	if choices := schema.firstOf("anyOf", "oneOf").elems; len(choices) > 0 {
		at := slices.IndexFunc(choices, func(s value) bool { return typeOf(s) == "null" })
		return fillSchema(r, name, choices[max(at, 0)], depth+1)
	}
	const deepest = 4
	kind := typeOf(schema)
	if kind == "" && (depth == 0 || schema.get("properties").ok()) {
		kind = "object"
	}
	least := 0
	if r != nil {
		least = 1
	}
	switch low := schema.get("minimum").num(least); kind {
	case "boolean":
		return r != nil && draw(2) == 0
	case "integer", "number":
		if r == nil && strings.Contains(strings.ToLower(name), "timeout") {
			low = max(60_000, low)
		}
		return low + draw(max(1, min(400, schema.get("maximum").num(low+400)-low)))
	case "array":
		out := list{}
		for i := 0; r != nil && depth <= deepest && i < max(1, schema.get("minItems").num(1)); i++ {
			out = append(out, fillSchema(r, "", schema.get("items"), depth+1))
		}
		return out
	case "null":
		return nil
	case "object":
		out := object{}
		required := schema.get("required").elems
		for _, p := range schema.get("properties").members {
			wanted := slices.ContainsFunc(required, func(v value) bool { return v.str() == p.name })
			if depth <= deepest && (wanted || r != nil && draw(3) == 0) {
				out = out.set(p.name, fillSchema(r, p.name, p.val, depth+1))
			}
		}
		return out
	}
	if r == nil {
		return "Run the next part of the work"
	}
	return argumentText(r, name)
}

// typeOf returns the first type that a schema names.
func typeOf(schema value) string {
	kind := schema.get("type")
	if kind.isArray() && len(kind.elems) > 0 {
		kind = kind.elems[0]
	}
	return strings.ToLower(kind.str())
}
