package rows_test

import (
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/e2e/agents/rows"
)

// The marks of a document.
const (
	begin = "<!-- table: e2e/agents/run facts writes it -->\n"
	end   = "<!-- end of the table -->\n"
)

// TestTable: rows of several runs become lines beside the runs without winnow, the
// later of two rows about the same counts, and a table stands between its marks.
func TestTable(t *testing.T) {
	list, err := rows.Read(strings.NewReader(`{"Agent":"pi","Window":60000,"Through":"serve","Ended":false,"Done":3,"Steps":60}
{"Agent":"pi","Window":60000,"Through":"without","Ended":false,"Done":7,"Steps":60}
{"Agent":"pi","Window":60000,"Through":"uncut","Ended":true,"Dollars":4.5}
{"Agent":"pi","Window":60000,"Through":"serve","Ended":true,"Done":60,"Steps":60,"Due":10,"Kept":7,"Recalled":3,"Plans":"12","Rewrites":11,"Dollars":3.1}
{"Agent":"gemini","Window":1048576,"Through":"wrap, nothing set","Ended":true,"Plans":"2"}
{"Agent":"gemini","Window":1048576,"Through":"without","Ended":false,"Done":7,"Steps":60}
{"Agent":"gemini","Window":1048576,"Files":130,"Alone":true}
`))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := rows.Table(&b, list); err != nil {
		t.Fatal(err)
	}
	const want = "| pi, thinking | 60,000 | serve | stops at 7 of 60 | ends | 0 | 0 | 7/10 | 3 | 12 | 11 | 0 | 3.10 | 4.50 |\n"
	const other = "| Gemini CLI | 1,048,576 | wrap, nothing set |  | ends | 0 | 0 | 0/0 | 0 | 2 | 0 | 0 | 0.00 |  |\n"
	if !strings.HasSuffix(b.String(), "|\n"+other+want) {
		t.Errorf("%s", b.String())
	}
	kept := "| pi, thinking | 70,000 | serve | as it was |\n| Claude Code | 60,000 | serve | as it was |\n"
	old := "| title |\n| pi, thinking | 60,000 | serve | something else |\n"
	doc, err := rows.Replace("before\n"+begin+old+kept+end+"after\n", "facts", "| title |\n"+want)
	if err != nil || doc != "before\n"+begin+"\n| title |\n"+want+kept+"\n"+end+"after\n" {
		t.Errorf("%v: %s", err, doc)
	}
	if _, err := rows.Replace("no marks", "facts", want); err == nil {
		t.Error("a document without marks was changed")
	}
}

// TestFacts: a run through winnow stands beside the newest one alone of the same
// work, and takes the place of the line that the document has about it.
func TestFacts(t *testing.T) {
	list, err := rows.ReadFacts(strings.NewReader(`{"Agent":"pi","Window":100000,"Files":60,"Alone":true,"Near":1,"NearDue":2,"Far":3,"FarDue":8,"Kinds":[{"Name":"path","Kept":1,"Due":3}],"Dollars":2}
{"Agent":"pi","Window":100000,"Files":60,"Near":2,"NearDue":2,"Far":4,"FarDue":8,"Kinds":[{"Name":"path","Kept":2,"Due":3}],"FirstCut":85000,"Rewrites":1,"Dollars":1}
{"Agent":"pi","Window":200000,"Files":60,"Near":2,"NearDue":2}
`))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := rows.Facts(&b, list); err != nil {
		t.Fatal(err)
	}
	const want = "| pi, thinking | 100,000 | 60 | 4/8 | 3/8 | 2/2 | 1/2 | path 2/3 (1) | 0 | 0 | 85,000 | none | 1 | 0 | 1.00 | 2.00 | 0.50 |\n"
	if !strings.HasSuffix(b.String(), "--:|\n"+want) {
		t.Errorf("%s", b.String())
	}
	doc, err := rows.Replace(begin+"| pi, thinking | 100,000 | 60 | as it was |\n"+end, "facts", b.String())
	if err != nil || strings.Contains(doc, "as it was") || !strings.Contains(doc, want) {
		t.Errorf("%v: %s", err, doc)
	}
}

// TestRecalls: runs in which handles were redeemed have a table of their own.
func TestRecalls(t *testing.T) {
	list, err := rows.Read(strings.NewReader(`{"Agent":"pi","Window":60000,"Through":"offered","Due":9,"Kept":6,"Recalled":3,"Markers":4,"Redeemed":2}
{"Agent":"pi","Window":60000,"Through":"serve"}
`))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := rows.Recalls(&b, list); err != nil || !strings.HasSuffix(b.String(), "--:|\n| pi, thinking | 60,000 | the gateway's tools, with neither | 9 | 6 | 3 | 0 | 4 | 2 |\n") {
		t.Errorf("%v: %s", err, b.String())
	}
}
