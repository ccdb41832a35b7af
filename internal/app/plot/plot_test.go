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
	svg := string(p.SVG())
	for _, bad := range []string{"<script", "<b>", "<i>"} {
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
	if shapes["circle"] != 2 {
		t.Errorf("shapes: %v", shapes)
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
