package rows_test

import (
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/e2e/agents/rows"
)

// Rows of several runs become the tables that they fill: the work beside the runs
// without winnow, of which the later of two about the same counts; handles that were
// redeemed; and files that were read, beside the newest run alone of the same work.
func TestPrint(t *testing.T) {
	var b strings.Builder
	err := rows.Print(&b, strings.NewReader(`{"Agent":"pi","Window":60000,"Through":"serve","Ended":false,"Done":3,"Steps":60}
{"Agent":"pi","Window":60000,"Through":"without","Ended":false,"Done":7,"Steps":60}
{"Agent":"pi","Window":60000,"Through":"uncut","Ended":true,"Dollars":4.5}
{"Agent":"pi","Window":60000,"Through":"serve","Ended":true,"Done":60,"Steps":60,"Due":10,"Kept":7,"Recalled":3,"Plans":"12","Rewrites":11,"Dollars":3.1}
{"Agent":"gemini","Window":1048576,"Through":"wrap, nothing set","Ended":true,"Plans":"2"}
{"Agent":"gemini","Window":1048576,"Through":"without","Ended":false,"Done":7,"Steps":60}
{"Agent":"gemini","Window":1048576,"Files":130,"Alone":true}
{"Agent":"pi","Window":60000,"Through":"offered","Due":9,"Kept":6,"Recalled":3,"Markers":4,"Redeemed":2}
{"Agent":"pi","Window":100000,"Files":60,"Alone":true,"Near":1,"NearDue":2,"Far":3,"FarDue":8,"Kinds":[{"Name":"path","Kept":1,"Due":3}],"Dollars":2}
{"Agent":"pi","Window":100000,"Files":60,"Near":2,"NearDue":2,"Far":4,"FarDue":8,"Kinds":[{"Name":"path","Kept":2,"Due":3}],"FirstCut":85000,"Rewrites":1,"Dollars":1}
{"Agent":"pi","Window":200000,"Files":60,"Near":2,"NearDue":2}
`))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| agent") {
			lines = append(lines, line)
		}
	}
	want := []string{
		"| Gemini CLI | 1,048,576 | wrap, nothing set |  | ends | 0 | 0 | 0/0 | 0 | 2 | 0 | 0 | 0.00 |  |\n",
		"| pi, thinking | 60,000 | serve | stops at 7 of 60 | ends | 0 | 0 | 7/10 | 3 | 12 | 11 | 0 | 3.10 | 4.50 |\n",
		"| pi, thinking | 60,000 | the gateway's tools, with neither | 9 | 6 | 3 | 0 | 4 | 2 |\n",
		"| pi, thinking | 100,000 | 60 | 4/8 | 3/8 | 2/2 | 1/2 | path 2/3 (1) | 0 | 0 | 85,000 | none | 1 | 0 | 1.00 | 2.00 | 0.50 |\n",
	}
	if strings.Join(lines, "") != strings.Join(want, "") {
		t.Errorf("%s", &b)
	}
}
