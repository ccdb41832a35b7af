package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// document is a plan as JSON.
type document struct {
	Version int `json:"winnow_plan"`
	ID      ID  `json:"id"`
	*plain
	Replaced []name `json:"replaced,omitempty"`
	Returned []name `json:"returned,omitempty"`

	// Earlier are all edits that gave way, in a plan that stands alone.
	Earlier *[]Edit `json:"earlier,omitempty"`
}

type plain Plan

// MarshalJSON returns the plan as a document with a version. It names the edits
// that it replaced, which are in the plan before it: keep that one too, or write
// [Plan.File].
func (p *Plan) MarshalJSON() ([]byte, error) { return p.encodeJSON(p != nil && p.whole) }

// File returns the plan as a document that stands alone: with all the edits
// that it and the plans before it replaced, as far as the plan knows them.
func (p *Plan) File() ([]byte, error) { return p.encodeJSON(p != nil && p.Linked()) }

func (p *Plan) encodeJSON(whole bool) ([]byte, error) {
	if p == nil {
		return []byte("null"), nil
	}
	doc := document{Version: Version, ID: p.id, plain: (*plain)(p), Replaced: p.replaced, Returned: p.returned}
	if whole && (p.Parent != "" || len(p.Replaced) > 0) {
		doc.Earlier = new(append([]Edit{}, p.Replaced...))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(doc)
	return bytes.TrimSpace(b.Bytes()), err
}

// Decode reads a plan that was written as JSON. It refuses documents of other
// kinds and versions, unknown fields, and edits that do not make a plan. A plan
// that grew from another one can be applied at once; to take it back, see
// [Plan.Link].
func Decode(data []byte) (*Plan, error) {
	doc := document{plain: new(plain)}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("plan: this is not a plan file: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("plan: %w: there is more after the end of the plan", ErrInvalid)
	}
	if doc.Version != Version {
		return nil, fmt.Errorf("plan: version %d of the plan format; this program reads version %d", doc.Version, Version)
	}
	p := (*Plan)(doc.plain)
	p.replaced, p.returned = doc.Replaced, doc.Returned
	if p.whole = doc.Earlier != nil; p.whole && len(*doc.Earlier) > 0 {
		p.Replaced = *doc.Earlier
	}
	p.unlinked = p.Parent != "" && !p.whole
	if err := p.checkAlone(); err != nil {
		return nil, err
	}
	p.seal()
	p.byHand = doc.ID == ""
	if doc.ID != "" && doc.ID != p.id {
		return nil, fmt.Errorf("plan: %w: its id is %s but its content has the id %s: the file was changed", ErrInvalid, doc.ID, p.id)
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
	p.Parent, p.Replaced, p.id, p.lineage = q.Parent, q.Replaced, q.id, q.lineage
	return nil
}
