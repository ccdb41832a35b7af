package providersim

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fileClient is an agent with a read tool, and a driver that has it read files of
// sources that are made up here.
func fileClient(t *testing.T, dialect string, steps int) (c *client, d *Driver, url string) {
	t.Helper()
	from, folder := t.TempDir(), t.TempDir()
	for i := range steps + 10 {
		for _, ending := range []string{".go", ".py"} {
			var b strings.Builder
			for k := range 12 {
				fmt.Fprintf(&b, "func step%d() int {\n\treturn compute(%d, %q) + carry\n}\n\n", k, i*100+k, ending)
			}
			if err := os.WriteFile(filepath.Join(from, fmt.Sprintf("f%d%s", i, ending)), []byte(b.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	d, err := NewFileDriver(DriveOptions{Steps: steps, Bytes: 700, Seed: 5}, []string{from}, folder)
	if err != nil {
		t.Fatal(err)
	}
	_, url = sim(t, Options{Drive: d})
	c = newClient(dialect)
	c.run = func(args value) string {
		path := args.get("path").str()
		data, err := os.ReadFile(path)
		if err != nil || !filepath.IsAbs(path) {
			t.Fatalf("%s: %v", path, err)
		}
		return string(data)
	}
	c.say("do the work")
	return c, d, url
}

// TestDriveFiles: an agent in each dialect reads all files, and with everything in
// sight every fact is there and nothing is read twice.
func TestDriveFiles(t *testing.T) {
	for _, dialect := range allDialects {
		c, _, url := fileClient(t, dialect, 40)
		c.work(t, url, nil)
		got := task(t, url)
		if !got.Ended || got.Done != 40 || got.Calls != 40 || got.Due != 32 || got.Kept != 32 || got.Repeats+got.Rewrites+len(got.Missed) != 0 {
			t.Errorf("%s: %+v", dialect, got)
		}
		line, others := 0, 0
		for _, f := range got.Facts {
			switch n := f.NearDue + f.FarDue; f.Kind {
			case "line":
				line = n
			default:
				others += n
			}
			if f.NearKept != f.NearDue || f.FarKept != f.FarDue {
				t.Errorf("%s: %+v", dialect, f)
			}
		}
		if line != 16 || others != 16 {
			t.Errorf("%s: %d lines and %d others were needed", dialect, line, others)
		}
	}
}

// TestDriveFilesReadsAgain: the agent reads a file again that was cut out of the
// request, and it counts as missed; it does not repeat the newest file.
func TestDriveFilesReadsAgain(t *testing.T) {
	c, _, url := fileClient(t, Chat, 24)
	c.work(t, url, func(int) bool {
		for i := 0; i < len(c.history)-3; i++ {
			if v := parse(t, c.history[i]); v.get("role").str() == "tool" {
				c.history[i] = strings.Replace(c.history[i], string(v.get("content").raw), `"[gone]"`, 1)
			}
		}
		return true
	})
	got := task(t, url)
	decided := got.Facts[factDecision]
	if !got.Ended || got.Repeats != 0 || got.Lost != 0 || got.Reread < got.Due/2 || len(got.Missed) != got.Reread || got.Kept+got.Reread != got.Due ||
		decided.NearKept != decided.NearDue || decided.FarKept != decided.FarDue {
		t.Errorf("%+v", got)
	}
}

// TestDriveFilesSummary: a summary holds the kinds that it is to hold and no other, and
// the work goes on from it, sealed or not.
func TestDriveFilesSummary(t *testing.T) {
	for _, sealed := range []bool{false, true} {
		c, d, url := fileClient(t, Responses, 40)
		c.work(t, url, func(n int) bool { return n < 30 })
		first := c.history[0]
		var summary string
		if sealed {
			c.history = append(c.history, `{"type":"compaction_trigger"}`)
			_, text := post(t, url+"/v1/responses", c.body())
			items := parse(t, text).get("output").elems
			at := slices.IndexFunc(items, func(v value) bool { return v.get("type").str() == "compaction" })
			c.history = []string{first, string(items[at].raw)}
			summary = d.sealed[items[at].get("encrypted_content").str()]
		} else {
			c.say("Please create a detailed summary of this conversation.")
			_, text := post(t, url+"/v1/responses", c.body())
			items := parse(t, text).get("output").elems
			summary = items[len(items)-1].get("content").elems[0].get("text").str()
			c.history = []string{first}
			c.say("Summary: " + summary)
			c.say("Go on.")
		}
		for _, u := range d.files.needs {
			has := strings.Contains(summary, u.name+" = "+u.value)
			if seen := u.from > 0 && u.from <= 31; seen && has != summarised[u.kind] {
				t.Errorf("a %s: %v in %s", factNames[u.kind], has, summary)
			}
		}
		c.work(t, url, nil)
		if got := task(t, url); !got.Ended || got.Repeats != 0 || got.Summaries != 1 || got.Calls-got.Reread != 40 || got.FirstCut == 0 {
			t.Errorf("sealed=%v: %+v", sealed, got)
		}
	}
}
