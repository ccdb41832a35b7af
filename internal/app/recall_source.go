package app

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
)

// Variables that say where originals are. winnow wrap sets them for the agent
// that it runs; keys are not arguments, which others on the machine can see.
const (
	variableGateway = "WINNOW_GATEWAY" // the address of a gateway
	variableKey     = "WINNOW_KEY"     // a key of that gateway
	variablePlans   = "WINNOW_PLANS"   // the gateway's file
	variableOwner   = "WINNOW_OWNER"   // see gateway.OwnerToken; for plans in memory

	// The label of the conversations of the agent that winnow wrap runs.
	variableConversation = "WINNOW_CONVERSATION"
)

var variablesOfRecall = []string{variableGateway, variableKey, variablePlans, variableOwner, variableConversation}

// recallFlags are the flags of commands that look for originals.
type recallFlags struct {
	gateway, plans, tenant, session string
	store                           storeFlags
}

func (f *recallFlags) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.gateway, "gateway", "", "`URL` of a gateway to ask (default: WINNOW_GATEWAY)")
	cmd.Flags().StringVar(&f.plans, "plans", "", "the gateway's `FILE`, read if no gateway is named (default: where winnow serve keeps plans)")
	cmd.Flags().StringVar(&f.tenant, "tenant", "", "read only the plans of the tenant `NAME`, as in the gateway's keys")
	cmd.Flags().StringVar(&f.session, "session", "", "look only into the session with this `ID`, or of this file")
	f.store.addTo(cmd)
}

// openSource opens the originals that these flags name. Done must be called, after an
// error too.
func (f *recallFlags) openSource(ctx context.Context, a *app) (source recall.Source, done func(), err error) {
	var all []recall.Source
	var opened []io.Closer
	done = func() {
		for _, c := range opened {
			_ = c.Close() // all of it was only read
		}
	}
	store, err := f.openPlans(a)
	if err != nil {
		return nil, done, err
	}
	if store != nil {
		opened = append(opened, store)
	}
	if isRegular(f.session) {
		if store == nil {
			return nil, done, fmt.Errorf("winnow compact has kept no plan for %s", f.session)
		}
		name, err := filepath.Abs(f.session)
		if err != nil {
			return nil, done, err
		}
		source, err := sessionFile(store, name)
		return source, done, err
	}
	if f.session == "" { // a session's file does not belong to a gateway
		if all, err = f.planSources(ctx, a, store); err != nil {
			return nil, done, err
		}
	}
	if f.session == "" && f.tenant == "" {
		named, _ := a.plansFile() // without a folder no other file can exist
		usual, _ := plansPath()
		if !sameFile(usual, cmp.Or(f.plans, named)) {
			other, err := openPlanFile(usual)
			if err != nil {
				return nil, done, err
			}
			if other != nil {
				opened = append(opened, other)
				s, err := sessionFile(other, "")
				if err != nil {
					return nil, done, err
				}
				all = append(all, s.Source)
			}
		}
	}
	sessions, path, err := a.openExistingStore(f.store)
	switch {
	case err == nil:
		opened = append(opened, sessions)
		o := session.RecallOptions{}
		if f.session != "" {
			if o.Session, err = findSession(ctx, sessions, f.session); err != nil {
				return nil, done, err
			}
		}
		o.Dir, _ = os.Getwd() // without one no session is of this folder
		all = append(all, session.Recaller(sessions, o))
	case f.store.path != "" || f.session != "", path != "" && !errors.Is(err, errNoStore):
		return nil, done, err
	}
	if len(all) == 0 {
		return nil, done, fmt.Errorf("there is nothing to recall from: no gateway has stored plans on this machine, winnow compact has made none, and there are no sessions in %s; name a gateway with --gateway, its file with --plans, or a store with --store", path)
	}
	return recall.Both(all...), done, nil
}

// planSources returns what plans hide: those of the agent's own session, of a
// gateway, of the gateway's file, and in that those of winnow compact.
func (f *recallFlags) planSources(ctx context.Context, a *app, store planstore.Owner) (all []recall.Source, err error) {
	var own *fileSource
	if store != nil && f.tenant == "" {
		if own, err = sessionFile(store, a.agentSession()); err != nil {
			return nil, err
		}
		if own.name != "" {
			all = append(all, own)
		}
	}
	if address := f.gatewayAddress(a); address != "" {
		r, err := a.gatewayAt(ctx, address, store)
		if all = append(all, r); own != nil {
			all = append(all, own.Source) // the gateway may have another file, or show us less
		}
		return all, err
	}
	if store == nil {
		return all, nil
	}
	t, tenants, err := f.fileOf(ctx, store)
	if err != nil {
		return nil, err
	}
	return append(all, t.Recaller(tenants...)), nil
}

// gatewayAddress returns the address of the gateway to ask; "" for none.
func (f *recallFlags) gatewayAddress(a *app) string {
	if f.plans != "" {
		return f.gateway
	}
	return cmp.Or(f.gateway, a.getenv(variableGateway))
}

// openPlans opens the gateway's file; nil where there is none.
func (f *recallFlags) openPlans(a *app) (planstore.Owner, error) {
	if f.plans == "" {
		path, _ := a.plansFile() // without a folder for it there is none
		return openPlanFile(path)
	}
	if _, err := os.Stat(f.plans); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %s; check --plans", f.plans, causeText(err))
	}
	return openPlanFile(f.plans)
}

// openPlanFile opens a file with plans; nil where there is none, since to look for
// something makes no file.
func openPlanFile(path string) (planstore.Owner, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, nil //nolint:nilerr,nilnil // see above
	}
	return sqlite.Open(path, planstore.Bounds{})
}

// fileOf returns a transport on the gateway's file, and the tenants in it that the
// flags name. A user who can read the file can read all of it: it is private to its
// owner.
func (f *recallFlags) fileOf(ctx context.Context, store planstore.Store) (*transport.Transport, []planstore.Tenant, error) {
	tenants, err := store.Tenants(ctx)
	if err != nil {
		return nil, nil, err
	}
	if f.tenant != "" {
		tenants = []planstore.Tenant{gateway.KeyTenant(f.tenant)}
	}
	t, err := transport.New(&transport.Options{Store: store, KeepOriginals: true})
	return t, tenants, err
}

// recallVariables tell programs that an agent runs where originals are.
func recallVariables(ctx context.Context, address, path string, store planstore.Store, label string) []string {
	env := []string{variableGateway + "=" + address, variableConversation + "=" + label}
	if store.Kind() == "file" {
		if abs, err := filepath.Abs(path); err == nil && path != "" {
			env = append(env, variablePlans+"="+abs)
		}
		return env // the file proves whose it is
	}
	if token, err := gateway.OwnerToken(ctx, store); err == nil && token != "" {
		env = append(env, variableOwner+"="+token)
	}
	return env
}

// remote asks a gateway.
type remote struct {
	base   string
	header http.Header
	client *http.Client
}

// gatewayAt returns the gateway at an address as a source. On this machine the
// owner of its file needs no key.
func (a *app) gatewayAt(ctx context.Context, address string, store planstore.Store) (*remote, error) {
	u, err := parseGateway(address)
	if err != nil {
		return nil, err
	}
	r := &remote{strings.TrimRight(address, "/"), http.Header{}, &http.Client{
		Timeout: time.Minute,
		// A redirect would take the key elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if key := a.getenv(variableKey); key != "" {
		r.header.Set(gateway.HeaderKey, key)
		return r, nil
	}
	if !isLoopback(u.Hostname()) {
		return r, nil
	}
	owner := a.getenv(variableOwner)
	if owner == "" && store != nil {
		if owner, err = gateway.OwnerToken(ctx, store); err != nil {
			return nil, err
		}
	}
	if owner != "" {
		r.header.Set(gateway.HeaderOwner, owner)
	}
	return r, nil
}

// parseGateway reads the address of a gateway.
func parseGateway(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, usageErrorf("--gateway %s: write a URL such as %s", address, defaultGateway)
	}
	return u, nil
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// Recall implements [recall.Source].
func (r *remote) Recall(ctx context.Context, handle string, lines recall.Range) (recall.Page, error) {
	q := url.Values{}
	for name, n := range map[string]int{"from": lines.From, "lines": lines.Lines} {
		if n > 0 {
			q.Set(name, strconv.Itoa(n))
		}
	}
	if lines.Find != "" {
		q.Set("find", lines.Find)
	}
	var p recall.Page
	handle, place, err := recall.Parse(handle)
	if err != nil {
		return p, err
	}
	if place != "" {
		handle += "@" + place
	}
	err = r.get(ctx, "/winnow/recall/"+url.PathEscape(handle), q, &p)
	return p, err
}

// Search implements [recall.Source].
func (r *remote) Search(ctx context.Context, query recall.Query) (recall.Results, error) {
	q := url.Values{"q": {query.Words}}
	if query.All {
		q.Set("all", "true")
	}
	if query.Limit > 0 {
		q.Set("limit", strconv.Itoa(query.Limit))
	}
	var found recall.Results
	err := r.get(ctx, "/winnow/search", q, &found)
	return found, err
}

// maxAnswer bounds what is read from a gateway.
const maxAnswer = 8 << 20

// get reads a document.
func (r *remote) get(ctx context.Context, path string, q url.Values, to any) error {
	answer, err := r.ask(ctx, http.MethodGet, path+"?"+q.Encode(), nil)
	if err != nil {
		return err
	}
	return r.readAnswer(answer, to)
}

// readAnswer reads the document of an answer.
func (r *remote) readAnswer(answer []byte, to any) error {
	if json.Unmarshal(answer, to) != nil {
		return fmt.Errorf("what answers at %s is not a winnow gateway; check the address", r.base)
	}
	return nil
}

// ask sends a request and returns the answer. What the gateway refuses it says why
// itself.
func (r *remote) ask(ctx context.Context, method, path string, action []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, bytes.NewReader(action))
	if err != nil {
		return nil, err
	}
	req.Header = r.header.Clone()
	req.Header.Set("Content-Type", "application/json")
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no gateway answers at %s: %w; start it with winnow serve, name another with --gateway, or read its file with --plans", r.base, withoutURL(err))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("the gateway at %s did not finish its answer: %w; try again", r.base, err)
	}
	if resp.StatusCode == http.StatusOK {
		return body, nil
	}
	var refused struct {
		Error struct{ Message string }
		Plan  plan.ID
	}
	_ = json.Unmarshal(body, &refused) // a body that is not JSON has no message
	why := strings.TrimPrefix(refused.Error.Message, "winnow: ")
	for status, kind := range map[int]error{http.StatusNotFound: recall.ErrUnknown, http.StatusConflict: recall.ErrAmbiguous, http.StatusGone: recall.ErrGone} {
		if rest, ok := strings.CutPrefix(why, kind.Error()); ok && resp.StatusCode == status {
			return nil, fmt.Errorf("%w%s", kind, rest)
		}
	}
	if resp.StatusCode == http.StatusUnauthorized {
		return nil, fmt.Errorf("the gateway at %s requires a key; set %s to yours", r.base, variableKey)
	}
	if why == "" {
		return nil, fmt.Errorf("what answers at %s is not a winnow gateway that can recall: it says %s; check the address", r.base, resp.Status)
	}
	return nil, &refusedError{resp.StatusCode, refused.Plan, fmt.Errorf("the gateway at %s refused: %s", r.base, why)}
}

// withoutURL returns the reason for which a request got no answer.
func withoutURL(err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return outer.Err
	}
	return err
}
