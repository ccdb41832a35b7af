package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tools is winnow mcp, as an agent runs it.
type tools struct {
	in  io.Writer
	out *bufio.Reader
	id  int
}

// startTools starts it beside a gateway, whose file shows whose it is.
func startTools(t *testing.T, url, store string) *tools {
	t.Helper()
	cmd := exec.Command(binary, "mcp", "--gateway", url, "--plans", store)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("winnow mcp did not end well: %v", err)
		}
	})
	s := &tools{in: in, out: bufio.NewReader(out)}
	if _, err := s.ask("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]string{"name": "test", "version": "1"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	return s
}

// ask sends a request and returns its result.
func (s *tools) ask(method string, params any) (json.RawMessage, error) {
	s.id++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": s.id, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if _, err := s.in.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	answer, err := s.out.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var doc struct {
		Result, Error json.RawMessage
	}
	if err := json.Unmarshal(answer, &doc); err != nil || doc.Error != nil {
		return nil, fmt.Errorf("%s: %w: %s", method, err, answer)
	}
	return doc.Result, nil
}

// call calls a tool. It returns false where the tool says that it was not done.
func (s *tools) call(name string, args any) (bool, error) {
	result, err := s.ask("tools/call", map[string]any{"name": name, "arguments": args})
	if err != nil {
		return false, err
	}
	var doc struct{ IsError bool }
	err = json.Unmarshal(result, &doc)
	return !doc.IsError, err
}

// atOnce runs all of them at the same time.
func atOnce(t *testing.T, all ...func() error) {
	t.Helper()
	errs := make([]error, len(all))
	start := make(chan struct{})
	var wait sync.WaitGroup
	for i, f := range all {
		wait.Go(func() {
			<-start
			errs[i] = f()
		})
	}
	close(start)
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// listen notes in the page what its actions are answered with.
const listen = `window.acted = []; { const ask = fetch; window.fetch = async (...a) => { const r = await ask(...a); if (a[1]?.method === "POST" && !/preview$/.test(a[0])) acted.push(r.status); return r } }; 0`

// TestTwoBrowsersAndACommand: two browsers and a command act on one conversation
// at the same moment. Whatever was answered with success is there, whatever was
// refused changed nothing, and of two who act on the same plan one is told to look
// again.
func TestTwoBrowsersAndACommand(t *testing.T) {
	g, store := gatewayOf(t, window, processes.provider)
	alice := &talk{url: g.url, key: "sk-alice-0123456789abcdef"}
	session := work(70, 2)
	alice.run(t, session[:90])
	one, two := tab(t), tab(t)
	command := startTools(t, g.url, store)
	type detail struct {
		ID, Plan string
		Plans    []struct {
			ID, By, Focus string
			Undone        bool
		}
		Pinned []struct{ Message, Part int }
	}
	id := ""
	now := func() (d detail) {
		t.Helper()
		getJSON(t, g.url+"/winnow/conversations/"+id, http.Header{"Authorization": {"Bearer " + alice.key}}, &d)
		return d
	}
	for _, ctx := range []context.Context{one, two} {
		expect(ctx, "409")
		alice.enter(t, ctx)
		do(t, ctx, shows(".bar"))
		id = js[string](t, ctx, "location.hash.split('/')[2]")
	}
	statuses := func() []int {
		t.Helper()
		var out []int
		for _, ctx := range []context.Context{one, two} {
			until(t, ctx, "acted.length === 1")
			out = append(out, js[int](t, ctx, "acted[0]"))
		}
		return out
	}
	show := func(hash, ready string) {
		t.Helper()
		for _, ctx := range []context.Context{one, two} {
			js[string](t, ctx, "location.hash = "+quoted(hash))
			do(t, ctx, chromedp.Reload(), shows(ready))
			js[int](t, ctx, listen)
		}
	}

	// Pins do not get into each other's way: all three are there.
	show("#/c/"+id+"/messages", "#m5 .pin")
	pinned := false
	atOnce(t,
		func() error { return chromedp.Do(one, click("#m3 .pin")) },
		func() error { return chromedp.Do(two, click("#m5 .pin")) },
		func() (err error) { pinned, err = command.call("pin", map[string]any{"message": 7}); return err })
	if got := statuses(); !slices.Equal(got, []int{200, 200}) || !pinned {
		t.Errorf("the pins were answered with %v and %v", got, pinned)
	}
	var pins []int
	for _, p := range now().Pinned {
		pins = append(pins, p.Message)
	}
	if !slices.Equal(pins, []int{3, 5, 7}) {
		t.Errorf("of three pins there are %v", pins)
	}

	// Compactions with a focus: each that succeeded is in the list, no other one.
	wanted, refused := map[string]bool{}, 0
	before := len(now().Plans)
	grown := 0
	for round := range 3 {
		was := len(now().Plans)
		alice.run(t, session[90+30*round:120+30*round])
		grown += len(now().Plans) - was // by requests
		show("#/c/"+id, "#focus")
		focus := func(who string) string { return fmt.Sprintf("round %d by %s", round, who) }
		do(t, one, chromedp.SendKeys(chromedp.ID("focus"), focus("one")+kb.Enter), shows(".apply:not([disabled])"))
		do(t, two, chromedp.SendKeys(chromedp.ID("focus"), focus("two")+kb.Enter), shows(".apply:not([disabled])"))
		atOnce(t,
			func() error { return chromedp.Do(one, click(".apply")) },
			func() error { return chromedp.Do(two, click(".apply")) },
			func() (err error) {
				wanted[focus("the command")], err = command.call("compact_now", map[string]any{"focus": focus("the command")})
				return err
			})
		got := statuses()
		wanted[focus("one")], wanted[focus("two")] = got[0] == 200, got[1] == 200
		for i, status := range got {
			if status == 409 {
				refused++
				until(t, []context.Context{one, two}[i], "document.querySelector('.said').textContent.startsWith('Not done')")
			}
		}
		if got[0] == 200 && got[1] == 200 || !slices.Contains(got, 409) {
			t.Errorf("round %d: two who acted on one plan were answered with %v", round, got)
		}
	}
	d := now()
	done := 0
	for focus, ok := range wanted {
		there := slices.ContainsFunc(d.Plans, func(p struct {
			ID, By, Focus string
			Undone        bool
		},
		) bool {
			return p.Focus == focus
		})
		if ok {
			done++
		}
		if there != ok {
			t.Errorf("%q: answered with success %v, and in the list %v", focus, ok, there)
		}
	}
	if len(d.Plans) != before+grown+done || refused < 3 || done == 0 {
		t.Errorf("there are %d plans after %d, %d by requests and %d that were asked for; %d were refused", len(d.Plans), before, grown, done, refused)
	}

	// Two take the same one back: once it is taken back.
	plan := d.Plan
	show("#/c/"+id+"/plan/"+plan, ".acts button")
	undo := `//button[text()="Undo this compaction"]`
	atOnce(t,
		func() error { return chromedp.Do(one, click(undo)) },
		func() error { return chromedp.Do(two, click(undo)) })
	got := statuses()
	slices.Sort(got)
	after := now()
	last := after.Plans[len(after.Plans)-1]
	if !slices.Equal(got, []int{200, 409}) || len(after.Plans) != len(d.Plans)+1 || last.By != "undo" || after.Plan == plan || !after.Plans[len(after.Plans)-2].Undone {
		t.Errorf("the undos were answered with %v; the last plans are %+v", got, after.Plans[len(after.Plans)-2:])
	}
	// The one who was refused looks again and goes on from there.
	for _, ctx := range []context.Context{one, two} {
		if strings.HasPrefix(js[string](t, ctx, "document.querySelector('.said').textContent"), "Not done") {
			do(t, ctx, chromedp.Reload(), shows(".acts"))
			until(t, ctx, "document.querySelector('.acts').innerText.includes('was taken back')")
			compact(t, ctx, "once more")
			until(t, ctx, "document.querySelector('.said').textContent.includes('Compacted')")
		}
	}
}
