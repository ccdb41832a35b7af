package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/plan"
)

// version is set when a release is built, with -ldflags "-X main.version=…".
var version = ""

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Example: "  winnow version", Args: cobra.NoArgs,
		RunE: a.work(func(*cobra.Command, []string) error {
			v := buildVersion()
			if a.asJSON {
				return a.print(map[string]any{"version": v, "go": runtime.Version(), "plan_format": plan.Version})
			}
			fmt.Fprintf(a.stdout, "winnow %s (%s, plan format %d)\n", v, runtime.Version(), plan.Version)
			return nil
		}),
	}
}

// buildVersion is the release, or what the Go toolchain noted.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "development"
}
