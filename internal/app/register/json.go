package register

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonFile is a JSON file, with comments or without.
type jsonFile struct {
	// path leads to the object that our entry is in.
	path []string

	// entry is our entry, its members in order.
	entry func(Server) []member

	// nested is a further step of the path in files that have it.
	nested string
}

type member struct {
	name  string
	value any
}

func parseJSON(doc []byte) (hujson.Value, error) {
	if len(bytes.TrimSpace(doc)) == 0 {
		doc = []byte("{}\n")
	}
	v, err := hujson.Parse(doc)
	if err != nil {
		return v, err
	}
	if _, ok := v.Value.(*hujson.Object); !ok {
		return v, fmt.Errorf("it is not a JSON object")
	}
	return v, nil
}

// find returns the index of a member; the last one counts, as for those who read
// the file.
func find(o *hujson.Object, name string) int {
	for i := len(o.Members) - 1; i >= 0; i-- {
		if l, ok := o.Members[i].Name.Value.(hujson.Literal); ok && l.String() == name {
			return i
		}
	}
	return -1
}

// steps is the path in this file.
func (f *jsonFile) steps(root *hujson.Object) []string {
	if f.nested == "" {
		return f.path
	}
	at := root
	for _, step := range append(slices.Clone(f.path), f.nested) {
		i := find(at, step)
		if i < 0 {
			return f.path
		}
		o, ok := at.Members[i].Value.Value.(*hujson.Object)
		if !ok {
			return f.path
		}
		at = o
	}
	if find(at, "type") >= 0 || find(at, "command") >= 0 { // a server of that name
		return f.path
	}
	return append(slices.Clone(f.path), f.nested)
}

func (f *jsonFile) put(doc []byte, s Server) ([]byte, error) {
	v, err := parseJSON(doc)
	if err != nil {
		return nil, err
	}
	at := v.Value.(*hujson.Object)
	var outer string
	indent := "\n"
	width := indentOf(at, "", "  ") // as the file has it
	width = strings.TrimPrefix(width, "\n")
	for _, step := range append(slices.Clone(f.steps(at)), name) {
		outer, indent = indent, indentOf(at, indent, width)
		i := find(at, step)
		if i < 0 {
			appendMember(at, step, &hujson.Object{}, indent, outer)
			i = len(at.Members) - 1
		}
		o, ok := at.Members[i].Value.Value.(*hujson.Object)
		if !ok {
			return nil, fmt.Errorf("%w: %s is not an object there", ErrByHand, step)
		}
		at = o
	}
	outer, indent = indent, indentOf(at, indent, width)
	for _, m := range f.entry(s) {
		raw, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		value, err := hujson.Parse(raw)
		if err != nil {
			return nil, err
		}
		if i := find(at, m.name); i < 0 {
			appendMember(at, m.name, value.Value, indent, outer)
		} else if !same(at.Members[i].Value, raw) {
			at.Members[i].Value.Value = value.Value
		}
	}
	return v.Pack(), nil
}

// same reports whether a value says what JSON says.
func same(v hujson.Value, raw []byte) bool {
	v.BeforeExtra, v.AfterExtra = nil, nil
	c := v.Clone()
	c.Standardize()
	var a, b any
	return json.Unmarshal(c.Pack(), &a) == nil && json.Unmarshal(raw, &b) == nil && fmt.Sprint(a) == fmt.Sprint(b)
}

// indentOf is what stands before the members of an object: as it has them, else
// one step further than the object itself.
func indentOf(o *hujson.Object, outer, step string) string {
	if len(o.Members) > 0 {
		extra := string(o.Members[len(o.Members)-1].Name.BeforeExtra)
		if i := strings.LastIndex(extra, "\n"); i >= 0 && strings.TrimSpace(extra[i:]) == "" {
			return extra[i:]
		}
	}
	return outer + step
}

// appendMember adds a member to an object, on a line of its own. Comments behind
// or below the last member stay where they are. Outer is where the object's last
// line begins.
func appendMember(o *hujson.Object, name string, value hujson.ValueTrimmed, indent, outer string) {
	before, closing := indent, outer
	if i := bytes.LastIndexByte(o.AfterExtra, '\n'); i >= 0 && len(o.Members) > 0 {
		closing = string(o.AfterExtra[i:])
	}
	if extra := strings.TrimRight(string(o.AfterExtra), " \t\n"); extra != "" {
		before = extra + indent
	}
	m := hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: hujson.Extra(before), Value: hujson.String(name)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: value},
	}
	if n := len(o.Members); n > 0 && o.Members[n-1].Value.AfterExtra != nil {
		m.Value.AfterExtra = hujson.Extra{} // a comma at the end stays one
	}
	o.AfterExtra = hujson.Extra(closing)
	o.Members = append(o.Members, m)
}

func (f *jsonFile) drop(doc []byte) ([]byte, error) {
	v, err := parseJSON(doc)
	if err != nil {
		return nil, err
	}
	at := v.Value.(*hujson.Object)
	for _, step := range f.steps(at) {
		i := find(at, step)
		if i < 0 {
			return doc, nil
		}
		o, ok := at.Members[i].Value.Value.(*hujson.Object)
		if !ok {
			return doc, nil
		}
		at = o
	}
	for i := find(at, name); i >= 0; i = find(at, name) {
		last := i == len(at.Members)-1
		trailing := at.Members[i].Value.AfterExtra
		// Comments before our entry are not ours.
		kept := strings.TrimRight(string(at.Members[i].Name.BeforeExtra), " \t\n")
		at.Members = slices.Delete(at.Members, i, i+1)
		switch {
		case last && len(at.Members) > 0:
			at.Members[len(at.Members)-1].Value.AfterExtra = trailing
			at.AfterExtra = hujson.Extra(kept + string(at.AfterExtra))
		case last:
			at.AfterExtra = hujson.Extra(kept)
			if kept != "" {
				at.AfterExtra = append(at.AfterExtra, '\n')
			}
		case kept != "":
			next := &at.Members[i].Name
			next.BeforeExtra = hujson.Extra(kept + string(next.BeforeExtra))
		}
	}
	return v.Pack(), nil
}

func (f *jsonFile) read(doc []byte) (rest, entry any, err error) {
	v, err := parseJSON(doc)
	if err != nil {
		return nil, nil, err
	}
	steps := f.steps(v.Value.(*hujson.Object))
	c := v.Clone()
	c.Standardize()
	d := json.NewDecoder(bytes.NewReader(c.Pack()))
	d.UseNumber()
	all := map[string]any{}
	if err := d.Decode(&all); err != nil {
		return nil, nil, err
	}
	return all, take(all, steps), nil
}

// take removes our entry from data, with parents that are empty then.
func take(all map[string]any, path []string) any {
	if len(path) == 0 {
		e, ok := all[name]
		if !ok {
			return nil
		}
		delete(all, name)
		if e == nil {
			e = map[string]any{}
		}
		return e
	}
	under, ok := all[path[0]].(map[string]any)
	if !ok {
		return nil
	}
	e := take(under, path[1:])
	if len(under) == 0 {
		delete(all, path[0])
	}
	return e
}
