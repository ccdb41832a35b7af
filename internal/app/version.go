package app

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/plan"
)

// version and revision are set when a release is built, with
// -ldflags "-X github.com/winnow-llm/winnow/internal/app.version=…": what the Go
// toolchain notes depends on how the sources were checked out.
var version, revision string

func (a *app) versionCommand() *cobra.Command {
	return newCommand("version", "Print the version", "  winnow version",
		cobra.NoArgs, func(*cobra.Command, []string) error { return a.showVersion() })
}

// build is the JSON document of version: what is known about this program.
type build struct {
	Version string `json:"version"`

	// Revision is the commit that it was built from, where the release or the Go
	// toolchain noted one; Modified says that the files had been changed since.
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`

	Go         string `json:"go"`
	PlanFormat int    `json:"plan_format"`
}

// showVersion prints the version, for winnow version and winnow --version.
func (a *app) showVersion() error {
	b := thisBuild()
	return a.printLine(b, "%s", b)
}

// thisBuild returns what is known about the running program.
func thisBuild() build {
	info, _ := debug.ReadBuildInfo()
	return buildOf(version, revision, info)
}

// buildOf puts together what a release was called and what the Go toolchain
// noted, which is nil where it noted nothing.
func buildOf(release, commit string, info *debug.BuildInfo) build {
	b := build{Version: release, Revision: commit, Go: runtime.Version(), PlanFormat: plan.Version}
	if info != nil {
		if v := info.Main.Version; b.Version == "" && v != "(devel)" {
			b.Version = v
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Revision = cmp.Or(commit, s.Value)
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	b.Version = cmp.Or(b.Version, "development")
	return b
}

// String returns the version in one line.
func (b build) String() string {
	var facts []string
	if b.Revision != "" {
		facts = append(facts, "revision "+b.Revision[:min(len(b.Revision), 12)])
	}
	if b.Modified {
		facts = append(facts, "modified")
	}
	facts = append(facts, b.Go, fmt.Sprintf("plan format %d", b.PlanFormat))
	return fmt.Sprintf("winnow %s (%s)", b.Version, strings.Join(facts, ", "))
}
