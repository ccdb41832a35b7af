package register

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlFile is Continue's config.yaml: a list of servers with names.
type yamlFile struct {
	// head begins a file that is empty.
	head string
}

const yamlList = "mcpServers"

func (f *yamlFile) entry(s Server, indent string) []string {
	lines := []string{indent + "- name: " + name, indent + "  command: " + quoted(s.Command), indent + "  args:"}
	for _, a := range s.Args {
		lines = append(lines, indent+"    - "+quoted(a))
	}
	return lines
}

// list finds the list of servers in a document: its key's line, counted from 1,
// the line behind it, and its items. The key's line is 0 where there is none.
func list(doc []byte, lines []string) (key, end int, items *yaml.Node, err error) {
	var root yaml.Node
	if err := yaml.Unmarshal(doc, &root); err != nil {
		return 0, 0, nil, err
	}
	if len(root.Content) == 0 {
		return 0, 0, nil, nil
	}
	m := root.Content[0]
	if m.Kind != yaml.MappingNode {
		return 0, 0, nil, fmt.Errorf("%w: it is not a mapping", ErrByHand)
	}
	for i := 0; i < len(m.Content); i += 2 {
		if m.Content[i].Value != yamlList {
			continue
		}
		end = len(lines) + 1
		if i+2 < len(m.Content) {
			end = m.Content[i+2].Line
		}
		// Comments and empty lines at the end belong to what follows.
		for end > m.Content[i].Line+1 {
			if t := strings.TrimSpace(lines[end-2]); t != "" && !strings.HasPrefix(t, "#") {
				break
			}
			end--
		}
		return m.Content[i].Line, end, m.Content[i+1], nil
	}
	return 0, 0, nil, nil
}

// ours returns the lines of our item, from 1, the last one not included.
func ours(items *yaml.Node, end int) (from, to int, ok bool) {
	for i, item := range items.Content {
		var s struct{ Name string }
		if item.Decode(&s) != nil || s.Name != name {
			continue
		}
		to = end
		if i+1 < len(items.Content) {
			to = items.Content[i+1].Line
		}
		return item.Line, to, true
	}
	return 0, 0, false
}

var yamlEmpty = regexp.MustCompile(`^(mcpServers:)\s*(?:\[\s*\]|null|~)?(\s*#.*|\s*)$`)

func (f *yamlFile) put(doc []byte, s Server) ([]byte, error) {
	lines := strings.Split(strings.TrimSuffix(string(doc), "\n"), "\n")
	key, end, items, err := list(doc, lines)
	if err != nil {
		return nil, err
	}
	join := func() ([]byte, error) { return []byte(strings.Join(lines, "\n") + "\n"), nil }
	switch {
	case key == 0:
		text := strings.TrimRight(string(doc), "\n")
		if strings.TrimSpace(text) == "" {
			text = strings.TrimRight(f.head, "\n")
		}
		return []byte(text + "\n" + yamlList + ":\n" + strings.Join(f.entry(s, "  "), "\n") + "\n"), nil
	case len(items.Content) == 0:
		m := yamlEmpty.FindStringSubmatch(lines[key-1])
		if m == nil {
			return nil, ErrByHand
		}
		lines = slices.Replace(lines, key-1, key, append([]string{m[1] + m[2]}, f.entry(s, "  ")...)...)
		return join()
	case items.Style&yaml.FlowStyle != 0:
		return nil, fmt.Errorf("%w: the list of servers stands on one line", ErrByHand)
	}
	last := items.Content[len(items.Content)-1]
	indent := strings.Repeat(" ", max(0, items.Column-1))
	if !strings.HasPrefix(lines[items.Line-1], indent+"-") {
		return nil, ErrByHand
	}
	from, to, ok := ours(items, end)
	if !ok {
		lines = slices.Insert(lines, max(end, last.Line+1)-1, f.entry(s, indent)...)
		return join()
	}
	var had, want any
	if yaml.Unmarshal([]byte(strings.Join(lines[from-1:to-1], "\n")), &had) == nil && yaml.Unmarshal([]byte(strings.Join(f.entry(s, indent), "\n")), &want) == nil && includes(had, want) {
		return doc, nil
	}
	var extra []string // what somebody added to our entry
	inOwn := false
	for _, l := range lines[from-1 : to-1] {
		t := strings.TrimPrefix(strings.TrimSpace(l), "- ")
		if len(l)-len(strings.TrimLeft(l, " -")) <= len(indent)+2 {
			inOwn = strings.HasPrefix(t, "name:") || strings.HasPrefix(t, "command:") || strings.HasPrefix(t, "args:")
		}
		if !inOwn {
			extra = append(extra, l)
		}
	}
	lines = slices.Replace(lines, from-1, to-1, append(f.entry(s, indent), extra...)...)
	return join()
}

// includes reports whether a list of one server says all that another says.
func includes(had, want any) bool {
	one := func(x any) map[string]any {
		l, _ := x.([]any)
		if len(l) != 1 {
			return nil
		}
		m, _ := l[0].(map[string]any)
		return m
	}
	h, w := one(had), one(want)
	for k, v := range w {
		if fmt.Sprint(h[k]) != fmt.Sprint(v) {
			return false
		}
	}
	return w != nil
}

func (f *yamlFile) drop(doc []byte) ([]byte, error) {
	lines := strings.Split(string(doc), "\n")
	key, end, items, err := list(doc, lines)
	if err != nil {
		return nil, err
	}
	if key == 0 || items.Style&yaml.FlowStyle != 0 {
		return nil, ErrByHand
	}
	from, to, ok := ours(items, end)
	if !ok {
		return nil, ErrByHand
	}
	if _, comment, ok := strings.Cut(lines[key-1], "#"); ok && len(items.Content) == 1 {
		lines[key-1] = yamlList + ": [] #" + comment
	} else if len(items.Content) == 1 {
		from = key
	}
	return []byte(strings.Join(slices.Delete(lines, from-1, to-1), "\n")), nil
}

func (f *yamlFile) read(doc []byte) (rest, entry any, err error) {
	all := map[string]any{}
	if err := yaml.Unmarshal(doc, &all); err != nil {
		return nil, nil, err
	}
	if len(all) == 0 {
		if err := yaml.Unmarshal([]byte(f.head), &all); err != nil {
			return nil, nil, err
		}
	}
	if all == nil {
		all = map[string]any{}
	}
	servers, _ := all[yamlList].([]any)
	others := slices.DeleteFunc(slices.Clone(servers), func(s any) bool {
		m, ok := s.(map[string]any)
		if ok && m["name"] == name {
			entry = m
			return true
		}
		return false
	})
	if all[yamlList] = others; len(others) == 0 {
		delete(all, yamlList)
	}
	return all, entry, nil
}
