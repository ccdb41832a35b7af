//go:build docs

package docs_test

import (
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestWorkflow: the public CI runs .ci/run itself, so that the two cannot drift apart,
// as the user and on the system for which .ci/run installs what its tests need; and a
// release waits for it.
func TestWorkflow(t *testing.T) {
	var doc struct {
		Jobs map[string]struct {
			If        string
			Container string
			Needs     []string
			Strategy  struct {
				Matrix struct{ Include []map[string]string }
			}
			Steps []struct{ Uses, Run, If string }
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, "../.github/workflows/ci.yml")), &doc); err != nil {
		t.Fatal(err)
	}
	all := doc.Jobs["all"]
	if all.If != "" || !strings.HasPrefix(all.Container, "debian:") {
		t.Errorf("the job runs if %q, on %q", all.If, all.Container)
	}
	ran := slices.ContainsFunc(all.Steps, func(s struct{ Uses, Run, If string }) bool { return s.Run == ".ci/run" && s.If == "" })
	if !ran {
		t.Error("no step runs .ci/run")
	}
	if release := doc.Jobs["release"]; !slices.Contains(release.Needs, "all") || !slices.Contains(release.Needs, "systems") {
		t.Errorf("a release waits for %v", release.Needs)
	}
	for _, m := range doc.Jobs["systems"].Strategy.Matrix.Include {
		for p := range strings.FieldsSeq(m["packages"]) {
			if dir := strings.TrimSuffix(p, "/..."); p != "work" && len(matching(t, "../"+dir+"/*.go")) == 0 {
				t.Errorf("%s: there is no %s", m["os"], p)
			}
		}
	}
}
