package app

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/app/config"
)

func (a *app) configTrustCommand() *cobra.Command {
	var revoke bool
	cmd := &cobra.Command{
		Use:     "trust",
		Short:   "Let the project's settings do everything, as they are now",
		Example: "  winnow config trust",
		Long: `Trusts the project's .winnow.yaml as it is now. A trusted file may also set hooks,
which run commands; the summariser and the model of the loop, which get the
conversation; the store; how long sessions are kept; and it may switch redact off. Read
the file first. When it changes, with the next pull for example, it is no longer
trusted. winnow does not check the programs that its hooks run. trust_project: true in
your own settings trusts every project instead.`,
		Args: cobra.NoArgs,
		RunE: a.asRunE(func(*cobra.Command, []string) error { return a.configTrust(revoke) }),
	}
	cmd.Flags().BoolVar(&revoke, "revoke", false, "take the trust back")
	return cmd
}

func (a *app) configTrust(revoke bool) error {
	path, above := config.Project()
	if path == "" {
		if above != "" {
			return fmt.Errorf("%s is above the current folder, which is not in a repository; go to %s", above, filepath.Dir(above))
		}
		return fmt.Errorf("there is no %s in this project", config.ProjectFile)
	}
	t := a.trustStore()
	if t == nil {
		_, err := a.dataDir()
		return err
	}
	if revoke {
		was, err := t.Remove(path)
		if err != nil {
			return err
		}
		if a.asJSON {
			return a.printJSON(map[string]any{"file": path, "trusted": false})
		}
		if !was {
			fmt.Fprintf(a.stdout, "%s was not trusted\n", path)
			return nil
		}
		fmt.Fprintf(a.stdout, "%s is no longer trusted\n", path)
		return nil
	}
	set, err := t.Add(path)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(map[string]any{"file": path, "trusted": true, "settings": append([]string{}, set...)})
	}
	what := "it sets nothing that needs trust"
	if len(set) > 0 {
		what = "it may set " + strings.Join(set, ", ")
	}
	fmt.Fprintf(a.stdout, "%s is trusted as it is now: %s\n", path, what)
	return nil
}
