package randhist

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/chat"
)

var (
	files = []string{
		"cmd/courier/main.go", "internal/lease/lease.go", "internal/lease/lease_test.go", "internal/queue/worker.go",
		"web/src/components/RouteMap.tsx", "web/src/api/client.ts", "services/billing/invoice.py", "services/billing/tests/test_invoice.py",
		"deploy/helm/values.yaml", "docs/retention.md", "crates/router/src/plan.rs", "/srv/data/export-2031.csv",
	}
	symbols = []string{
		"RenewLease", "parseManifest", "InvoiceTotal", "useRoutePlan", "retry_with_backoff", "ErrLeaseLost", "route_cost", "WorkerPool.Drain",
		"applyMigration", "TokenBucket", "computeChecksum", "SESSION_TTL",
	}
	words = []string{
		"the", "worker", "keeps", "its", "lease", "while", "a", "shard", "moves", "and", "then", "renews", "it", "before", "expiry", "so", "that",
		"no", "other", "process", "may", "write", "to", "this", "queue", "but", "after", "restart", "cache", "was", "stale", "we", "should",
		"measure", "latency", "again", "with", "smaller", "batches", "because", "test", "fails", "only", "under", "load",
	}
	requests = []string{
		"Please fix the failing test in ", "Never touch the public API of ", "Why does this time out? Look at ", "Add a retry with a limit of 7 to ",
		"Rename the setting and keep the old name working in ", "The build is red since yesterday, start with ", "Do not use any new dependency in ",
	}
	failures = []string{
		"panic: runtime error: index out of range [7] with length 7", "error[E0502]: cannot borrow `plan` as mutable", "AssertionError: expected 1204 but got 1198",
		"TypeError: Cannot read properties of undefined (reading 'route')", "dial tcp 10.1.4.20:5432: connect: connection refused",
		"FAIL: TestRenewLease (0.31s)", "fatal: not a git repository", "exit status 2", "ENOENT: no such file or directory",
	}
	commands = []string{
		"go test ./internal/lease/ -run TestRenewLease", "npm run build", "pytest -q services/billing", "git status --short", "rg -n ErrLeaseLost",
		"cargo check -p router", "kubectl get pods -n courier", "ls -la deploy/helm",
	}
	far = []string{
		"租约在到期之前必须续订，否则另一个进程会接管队列。", "テストは負荷が高いときだけ失敗します。", "Очередь обрабатывается с задержкой.",
		"빌드가 어제부터 실패합니다.", "🚚📦 delivered 👩🏽‍💻✅", "naïve façade – “quoted” …", "تم تحديث الإعدادات",
	}
	todos = []string{"- [x] reproduce the failure", "- [ ] extend the lease test", "TODO: drop the old setting in 3.2", "Decision: batches of 64"}
)

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

func pick[T any](g *gen, from []T) T { return from[g.IntN(len(from))] }

// drawSize draws a length around the usual one; now and then it is giant.
func (g *gen) drawSize(usual int) int {
	switch x := g.Float64(); {
	case x < 0.0015:
		return 20_000 + g.IntN(280_000)
	case x < 0.02:
		return 20 * usual
	}
	return 1 + g.IntN(2*usual)
}

// takeText returns the text in the buffer, within the limits.
func (g *gen) takeText() string {
	if len(g.buf) > g.o.MaxText {
		cut := g.o.MaxText
		for cut > 0 && !utf8.RuneStart(g.buf[cut]) {
			cut--
		}
		g.buf = g.buf[:cut]
	}
	if g.sick && g.chance(0.004) && len(g.buf) > 0 {
		g.buf[g.IntN(len(g.buf))] = 0xC3
	}
	s := cmp.Or(string(g.buf), "x")
	g.buf = g.buf[:0]
	return s
}

// makeProse returns about n bytes of plain words.
func (g *gen) makeProse(n int) string {
	n = min(1+g.IntN(2*n), g.o.MaxText)
	g.appendWords(n)
	return g.takeText()
}

func (g *gen) appendWords(n int) {
	for end := len(g.buf) + n; len(g.buf) < end; {
		g.buf = append(g.buf, pick(g, words)...)
		g.buf = append(g.buf, ' ')
	}
}

func (g *gen) requestText() string {
	g.buf = fmt.Appendf(g.buf, "%s%s. ", pick(g, requests), pick(g, files))
	if g.chance(0.5) {
		g.appendLines(g.drawSize(80))
	}
	return g.takeText()
}

// makeText returns about n bytes of lines as agents and tools write them.
func (g *gen) makeText(n int) string {
	g.appendLines(n)
	return g.takeText()
}

func (g *gen) appendLines(n int) {
	n = min(n, g.o.MaxText)
	start := len(g.buf)
	for end := start + n; len(g.buf) < end; {
		if done := len(g.buf) - start; done > 4096 { // a giant repeats itself, with numbers that differ
			g.buf = append(g.buf, g.buf[start:start+min(done, 4096)]...)
			g.buf = strconv.AppendInt(append(g.buf, "\nid="...), g.Int64(), 16)
		}
		g.appendLine()
		g.buf = append(g.buf, '\n')
	}
}

func (g *gen) appendLine() {
	if g.o.Wide && g.chance(0.15) {
		g.appendForeign()
		return
	}
	switch g.IntN(12) {
	case 0, 1:
		g.buf = fmt.Appendf(g.buf, "%s:%d: func %s() {", pick(g, files), 1+g.IntN(900), pick(g, symbols))
	case 2:
		g.buf = fmt.Appendf(g.buf, "\t%s(ctx, %d)", pick(g, symbols), g.IntN(10000))
	case 3:
		g.buf = append(g.buf, pick(g, failures)...)
	case 4:
		g.buf = append(append(g.buf, "$ "...), pick(g, commands)...)
	case 5:
		g.buf = append(g.buf, pick(g, far)...)
	case 6:
		g.buf = append(g.buf, pick(g, todos)...)
	case 7:
		if g.chance(0.2) {
			g.appendBlob(100 + g.IntN(400))
			break
		}
		fallthrough
	case 8:
		g.buf = fmt.Appendf(g.buf, "processed %d rows, request req_%s", g.IntN(1_000_000), strconv.FormatInt(g.Int64(), 36))
	default:
		g.appendWords(20 + g.IntN(60))
	}
}

func (g *gen) appendBlob(n int) {
	for range n {
		g.buf = append(g.buf, alphabet[g.IntN(64)])
	}
}

func (g *gen) base64Text(n int) string {
	b := make([]byte, min(n, g.o.MaxText))
	for i := 0; i < len(b); {
		x := g.Uint64()
		for k := 0; k < 10 && i < len(b); k++ {
			b[i] = alphabet[x&63]
			x >>= 6
			i++
		}
	}
	return string(b)
}

type callKind uint8

const (
	readCall callKind = iota
	shellCall
	writeCall
	searchCall
	otherCall
)

// makeCall returns a tool call and what kind of tool it calls.
func (g *gen) makeCall() (chat.Part, callKind) {
	kind := callKind(g.IntN(5))
	name, args := "", "{}"
	switch kind {
	case readCall:
		name = pick(g, []string{"read_file", "Read", "view"})
		args = `{"path":"` + pick(g, files) + `"`
		if g.chance(0.5) {
			args += `,"offset":` + strconv.Itoa(g.IntN(800)) + `,"limit":80`
		}
		args += "}"
	case shellCall:
		name = pick(g, []string{"bash", "shell", "run_command"})
		args = `{"command":"` + pick(g, commands) + `"}`
	case writeCall:
		name = pick(g, []string{"write_file", "edit_file", "Edit"})
		args = `{"path":"` + pick(g, files) + `","content":` + strconv.QuoteToASCII(g.makeProse(g.drawSize(60))) + `}`
	case searchCall:
		name = pick(g, []string{"grep", "search"})
		args = `{"pattern":"` + pick(g, symbols) + `"}`
	default:
		name = pick(g, []string{"skill", "fetch", "now"})
	}
	p := chat.Call(g.makeCallID(), name, args)
	if g.chance(0.02) {
		p.Signature = g.base64Text(32)
	}
	return p, kind
}

// makeResult returns what a tool answered.
func (g *gen) makeResult(id, name string, shell bool) chat.Part {
	p := chat.Part{Kind: chat.ToolResult, ID: id, Name: name, Text: g.makeText(g.drawSize(250))}
	switch x := g.Float64(); {
	case x < 0.08:
		p.Failed = true
		p.Text = pick(g, failures) + "\n" + p.Text
	case x < 0.10:
		p.Text = ""
	case x < 0.12:
		p.Content = []chat.Part{g.imagePart()}
	}
	if shell && g.chance(0.5) {
		p.Text += "exit code: " + strconv.Itoa(g.IntN(3))
	}
	if len(p.Text) > g.o.MaxText {
		p.Text = strings.ToValidUTF8(p.Text[:g.o.MaxText], "")
	}
	return p
}
