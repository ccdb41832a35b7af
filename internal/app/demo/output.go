package demo

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// numbered shows a file as the read tool does.
func numbered(text string, offset, limit int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	from := min(max(offset-1, 0), len(lines))
	to := len(lines)
	if limit > 0 {
		to = min(to, from+limit)
	}
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "%5d\t%s\n", i+1, lines[i])
	}
	if to < len(lines) {
		fmt.Fprintf(&b, "(%d more lines)\n", len(lines)-to)
	}
	return b.String()
}

// search greps the repository's files.
func search(repo map[string]string, pattern, under string, most int) string {
	paths := make([]string, 0, len(repo))
	for p := range repo {
		if strings.HasPrefix(p, under) {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	var b strings.Builder
	n := 0
	for _, p := range paths {
		for i, line := range strings.Split(repo[p], "\n") {
			if !strings.Contains(line, pattern) {
				continue
			}
			if n++; n <= most {
				fmt.Fprintf(&b, "%s:%d:%s\n", p, i+1, line)
			}
		}
	}
	if n == 0 {
		return "no matches"
	}
	if n > most {
		fmt.Fprintf(&b, "(%d more matches)\n", n-most)
	}
	return b.String()
}

// tree lists files below a folder with their sizes.
func tree(repo map[string]string, under string) string {
	var paths []string
	for p := range repo {
		if strings.HasPrefix(p, under) {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	var b strings.Builder
	for _, p := range paths {
		fmt.Fprintf(&b, "%8d  %s\n", len(repo[p]), p)
	}
	return b.String()
}

var packages = strings.Fields(`api auth billing carrier config depot export geo ingest label manifest metrics
	notify partner ratelimit route scan store telemetry tracking webhook`)

// goTest is the output of go test -v for a package, with the failures given.
func goTest(pkg string, tests int, failures ...string) string {
	r := seeded(pkg + strings.Join(failures, "|"))
	var b strings.Builder
	total := 0.0
	for range tests {
		name := "Test" + title(pick(r, nouns)) + pick(r, verbs)
		took := float64(r.IntN(40)) / 100
		total += took
		fmt.Fprintf(&b, "=== RUN   %s\n", name)
		if r.IntN(4) == 0 {
			for range 1 + r.IntN(3) {
				fmt.Fprintf(&b, "    %s_test.go:%d: %s %s: %d of %d\n", pkg, 20+r.IntN(300), pick(r, adjectives), pick(r, nouns), r.IntN(50), 50+r.IntN(50))
			}
		}
		fmt.Fprintf(&b, "--- PASS: %s (%.2fs)\n", name, took)
	}
	for _, f := range failures {
		name, text, _ := strings.Cut(f, ": ")
		fmt.Fprintf(&b, "=== RUN   %s\n    %s_test.go:%d: %s\n--- FAIL: %s (%.2fs)\n", name, pkg, 20+r.IntN(300), text, name, float64(r.IntN(90))/100)
	}
	path := "example.com/parcelhub/internal/" + pkg
	if len(failures) > 0 {
		fmt.Fprintf(&b, "FAIL\nFAIL\t%s\t%.3fs\nFAIL\nexit status 1\n", path, total+0.2)
	} else {
		fmt.Fprintf(&b, "PASS\nok  \t%s\t%.3fs\n", path, total+0.2)
	}
	return b.String()
}

// suite is the output of the whole test suite.
func suite(name string, failing ...string) string {
	r := seeded("suite" + name)
	var b strings.Builder
	for _, p := range packages {
		path := "example.com/parcelhub/internal/" + p
		if slices.Contains(failing, p) {
			fmt.Fprintf(&b, "--- FAIL: TestContract (0.31s)\n    contract_test.go:%d: GET /v1/track/PH-88213: field \"eta\" is missing\nFAIL\nFAIL\t%s\t%.3fs\n", 40+r.IntN(90), path, 0.4+r.Float64())
			continue
		}
		fmt.Fprintf(&b, "ok  \t%s\t%.3fs\tcoverage: %.1f%% of statements\n", path, 0.1+3*r.Float64(), 55+40*r.Float64())
	}
	if len(failing) > 0 {
		b.WriteString("FAIL\nexit status 1\n")
	}
	return b.String()
}

// logs are lines of the service's log.
func logs(name string, lines int) string {
	r := seeded("log" + name)
	var b strings.Builder
	second := 0
	for range lines {
		second += r.IntN(3)
		stamp := fmt.Sprintf("2026-10-14T09:%02d:%02d.%03dZ", 12+second/60, second%60, r.IntN(1000))
		switch k := r.IntN(20); {
		case k == 0:
			fmt.Fprintf(&b, "%s ERROR api: upstream carrier=%s status=503 err=\"dial tcp 10.4.%d.%d:8443: connect: connection refused\" request=%s\n", stamp, pick(r, nouns), r.IntN(256), r.IntN(256), requestID(r))
		case k < 3:
			fmt.Fprintf(&b, "%s WARN  ratelimit: slow acquire shard=%d waited=%dms key=…%04x\n", stamp, r.IntN(64), 40+r.IntN(400), r.IntN(65536))
		case k < 6:
			fmt.Fprintf(&b, "%s INFO  api: %d GET /v1/track/PH-%d %dms key=…%04x remaining=%d\n", stamp, pickStatus(r), 10000+r.IntN(90000), 3+r.IntN(200), r.IntN(65536), r.IntN(120))
		default:
			fmt.Fprintf(&b, "%s INFO  %s: %s %s id=PH-%d attempt=%d request=%s\n", stamp, pick(r, packages), strings.ToLower(pick(r, verbs)), pick(r, nouns), 10000+r.IntN(90000), 1+r.IntN(4), requestID(r))
		}
	}
	return b.String()
}

func pickStatus(r *rand.Rand) int { return []int{200, 200, 200, 304, 404, 429}[r.IntN(6)] }

func requestID(r *rand.Rand) string { return fmt.Sprintf("%08x-%04x", r.Uint32(), r.IntN(65536)) }

// profile is the head of a CPU or mutex profile.
func profile(name string, rows int) string {
	r := seeded("profile" + name)
	var b strings.Builder
	b.WriteString("File: parcelhub\nType: mutex\nShowing nodes accounting for 41.20s, 92.73% of 44.43s total\n      flat  flat%   sum%        cum   cum%\n")
	left, sum := 41.2, 0.0
	for i := range rows {
		flat := left * (0.2 + 0.3*r.Float64())
		left -= flat
		sum += flat
		name := fmt.Sprintf("example.com/parcelhub/internal/%s.(*%sService).%s%s", pick(r, packages), title(pick(r, nouns)), pick(r, verbs), title(pick(r, nouns)))
		if i == 0 {
			name = "example.com/parcelhub/internal/ratelimit.(*Limiter).Acquire"
		}
		fmt.Fprintf(&b, "%9.2fs %5.2f%% %5.2f%% %9.2fs %5.2f%%  %s\n", flat, flat/44.43*100, sum/44.43*100, flat*1.1, flat/40*100, name)
	}
	return b.String()
}
