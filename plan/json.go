package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// MarshalJSON returns the plan as a document with a version.
func (p *Plan) MarshalJSON() ([]byte, error) {
	type plain Plan
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		Version int `json:"winnow_plan"`
		ID      ID  `json:"id"`
		*plain
	}{Version, p.id, (*plain)(p)})
	return bytes.TrimSpace(b.Bytes()), err
}

// Decode reads a plan that was written as JSON. It refuses documents of other
// kinds and versions, unknown fields, and edits that do not make a plan.
func Decode(data []byte) (*Plan, error) {
	type plain Plan
	doc := struct {
		Version int `json:"winnow_plan"`
		ID      ID  `json:"id"`
		*plain
	}{plain: new(plain)}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("plan: this is not a plan file: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("plan: %w: something follows the plan's end", ErrInvalid)
	}
	if doc.Version != Version {
		return nil, fmt.Errorf("plan: version %d of the plan format; this program reads version %d", doc.Version, Version)
	}
	p := (*Plan)(doc.plain)
	if err := p.check(); err != nil {
		return nil, err
	}
	p.seal()
	if doc.ID != "" && doc.ID != p.id {
		return nil, fmt.Errorf("plan: %w: its id is %s but its content gives %s: the file was changed", ErrInvalid, doc.ID, p.id)
	}
	return p, nil
}

// UnmarshalJSON reads the plan as [Decode] does.
func (p *Plan) UnmarshalJSON(data []byte) error {
	q, err := Decode(data)
	if err != nil {
		return err
	}
	p.Prefix, p.Len, p.Edits, p.Strip = q.Prefix, q.Len, q.Edits, q.Strip
	p.Join, p.Seals, p.Results = q.Join, q.Seals, q.Results
	p.Parent, p.Replaced, p.Short, p.id = q.Parent, q.Replaced, q.Short, q.id
	return nil
}
