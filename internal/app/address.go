package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) addressCommand() *cobra.Command {
	var f recallFlags
	cmd := &cobra.Command{
		Use:   "address",
		Short: "Print an address that opens a gateway's pages in a browser, once",
		Example: `  winnow address
  WINNOW_KEY=… winnow address --gateway https://winnow.example.com`,
		Long: `Asks a running gateway for an address that works once, within a quarter of an
hour. Whoever opens it gets a cookie for twelve hours, and sees in the browser what
the caller of this command sees: with WINNOW_KEY that key's conversations, on a
gateway without keys on this machine all of them. The cookie is good for the
gateway's own pages alone, not for calls to models, and ends with the key.

The address is printed and nowhere else. Do not keep it or send it to others.`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().StringVar(&f.gateway, "gateway", "", "`URL` of the gateway (default: WINNOW_GATEWAY, else http://127.0.0.1:8484)")
	cmd.Flags().StringVar(&f.plans, "plans", "", "the gateway's `FILE`, which shows whose it is (default: where winnow serve keeps plans)")
	cmd.RunE = a.work(func(cmd *cobra.Command, _ []string) error {
		if a.asJSON {
			return usagef("an address is a secret, and in no document; leave --json out")
		}
		address := f.gateway
		if address == "" {
			address = a.getenv(variableGateway)
		}
		if address == "" {
			address = "http://127.0.0.1:8484"
		}
		store, err := f.openPlans(a)
		if err != nil {
			return err
		}
		if store != nil {
			defer store.Close()
		}
		r, err := a.remote(cmd.Context(), address, store)
		if err != nil {
			return err
		}
		at, err := r.address(cmd.Context())
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(a.stdout, at)
		return err
	})
	return cmd
}

// address asks for an address that works once.
func (r *remote) address(ctx context.Context) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.base+"/winnow/address", http.NoBody)
	if err != nil {
		return "", err
	}
	req.Header = r.header.Clone()
	resp, err := r.client.Do(req)
	if err != nil {
		return "", fmt.Errorf("no gateway answers at %s; start it with winnow serve, or name another with --gateway", r.base)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4096))
	switch {
	case err != nil:
		return "", err
	case resp.StatusCode == http.StatusUnauthorized:
		return "", fmt.Errorf("the gateway at %s wants a key; set %s to yours", r.base, variableKey)
	case resp.StatusCode == http.StatusForbidden:
		return "", fmt.Errorf("the gateway at %s does not know whose it is: name its file with --plans, or give it keys and set %s", r.base, variableKey)
	case resp.StatusCode != http.StatusOK || !strings.HasPrefix(string(body), "http"):
		return "", errors.New("what answers at " + r.base + " is not a gateway of winnow; check the address")
	}
	return strings.TrimSpace(string(body)), nil
}
