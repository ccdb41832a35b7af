package app

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) addressCommand() *cobra.Command {
	var f recallFlags
	cmd := newCommand("address", "Print a one-time address for a gateway's pages in the browser", `
  winnow address
  WINNOW_KEY=… winnow address --gateway https://winnow.example.com

Asks a running gateway for an address that works once, within 15 minutes. Opening it
sets a cookie for twelve hours, and the browser then shows what you may see: with
WINNOW_KEY the conversations of that key, and on a gateway without keys on this
machine all conversations. The cookie is valid only for the gateway's own pages, not
for calls to models, and only as long as the key is valid.

The address is printed and stored nowhere. Treat it as a secret.`, cobra.NoArgs, nil)
	cmd.Flags().StringVar(&f.gateway, "gateway", "", "`URL` of the gateway (default: WINNOW_GATEWAY, else http://127.0.0.1:8484)")
	cmd.Flags().StringVar(&f.plans, "plans", "", "the gateway's `FILE`, which proves that the gateway is yours (default: where winnow serve keeps plans)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if a.asJSON {
			return usageErrorf("the address is a secret and is not put into a JSON document; remove --json")
		}
		store, err := f.openPlans(a)
		if err != nil {
			return err
		}
		if store != nil {
			defer store.Close()
		}
		r, err := a.gatewayAt(cmd.Context(), cmp.Or(f.gateway, a.getenv(variableGateway), defaultGateway), store)
		if err != nil {
			return err
		}
		answer, err := r.ask(cmd.Context(), http.MethodPost, "/winnow/address", nil)
		var refused *refusedError
		switch {
		case errors.As(err, &refused) && refused.status == http.StatusForbidden:
			return fmt.Errorf("the gateway at %s cannot tell that it is yours: name its file with --plans, or start it with keys and set %s", r.base, variableKey)
		case err == nil && !bytes.HasPrefix(answer, []byte("http")):
			return fmt.Errorf("what answers at %s is not a winnow gateway; check the address", r.base)
		case err == nil:
			_, err = fmt.Fprintln(a.stdout, strings.TrimSpace(string(answer)))
		}
		return err
	}
	return cmd
}
