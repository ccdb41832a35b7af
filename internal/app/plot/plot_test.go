package plot

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// A diagram is well-formed, names what is in it, and nothing in a name gets out
// of its place.
func TestPlot(t *testing.T) {
	p := New(200, "x <&>", "y", 0, 10, 0, 5)
	p.Axes(Steps(0, 10, 5), Steps(0, 5, 5), TrimZero)
	p.Dot(`"><script>`, "ours", 5, 2, 5, "<i>")
	p.Dot("<b>", "peer", 3, 3, 5, "a & b")
	p.Bar("limit", 1, 2, 4, "four < five")
	p.Label("ours", "<u>", 30)
	svg := string(p.SVG())
	for _, bad := range []string{"<script", "<b>", "<i>", "<u>"} {
		if strings.Contains(svg, bad) {
			t.Errorf("the diagram has %s", bad)
		}
	}
	d := xml.NewDecoder(strings.NewReader(svg))
	shapes := map[string]int{}
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := tok.(xml.StartElement); ok {
			shapes[e.Name.Local]++
		}
	}
	if shapes["rect"] != 2 || shapes["circle"] != 2 {
		t.Errorf("shapes: %v", shapes)
	}
	// A bar stands on the axis: 4 of 5 of the height between the margins.
	if want := `height="120.0"`; !strings.Contains(svg, want) {
		t.Errorf("no bar of %s in %s", want, svg)
	}
}

func TestSteps(t *testing.T) {
	if got := Steps(0, 10, 5); len(got) != 6 || got[5] != 10 {
		t.Errorf("%v", got)
	}
	if got := Steps(3, 3, 5); len(got) != 1 {
		t.Errorf("%v", got)
	}
}
