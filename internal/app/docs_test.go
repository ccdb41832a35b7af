package app

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/internal/app/demo"
	"github.com/winnow-llm/winnow/internal/kit/pgtest"
)

// docPage says how the commands of a document are run: those of its blocks of ```sh, one
// after the other, by a shell in an empty home. The session of the demo is there as
// session.json and session.jsonl.
type docPage struct {
	before string            // shell, run first
	words  map[string]string // what stands in for a word of the document; may be a variable of before
	not    map[string]string // lines with this text are not run, and why
	after  string            // shell, run at the end: what must hold then
}

// docGateway is a simulated provider, and a gateway in front of it that knows a key.
const docGateway = `
echo 'me secret-of-the-docs' > keys
start sim winnow sim --listen 127.0.0.1:0 --window 16000
start serve winnow serve --listen 127.0.0.1:0 --keys keys --upstream openai=http://$(address sim) --window 16000
export WINNOW_KEY=secret-of-the-docs OPENAI_API_KEY=sk-doc
`

// docRequest sends the session of the demo through that gateway.
const docRequest = `
curl -s -o answer.json -H "Winnow-Key: secret-of-the-docs" -H 'content-type: application/json' -d @session.json http://$(address serve)/v1/chat/completions
`

// docPlans finds the plan that the gateway made for whoever has the key.
const docPlans = `
export OPENAI_API_KEY=sk-doc
plan() { curl -s -H "Authorization: Bearer $OPENAI_API_KEY" http://$(address serve)/winnow/plans | grep -o '"id":"[0-9a-f]*"' | tail -1 | cut -d'"' -f4; }
`

// docAgents stand in for the real ones, which e2e/agents runs: they note what they were
// called with and whether they were pointed at a gateway.
const docAgents = `
mkdir -p agents
for name in claude codex gemini opencode pi qwen cn cline kilo; do
  printf '#!/bin/sh\necho "%s $*" >> "$HOME/ran"\nenv >> "$HOME/ran"\n' "$name" > agents/$name
  chmod +x agents/$name
done
export PATH="$PWD/agents:$PATH"
printf 'name: x\nversion: 1.0.0\nschema: v1\nmodels:\n  - name: m\n    provider: openai\n    model: gpt-5\n    apiKey: k\n' > config.yaml
mkdir -p ~/.continue ~/.cline/data/settings && cp config.yaml ~/.continue/
echo '{"providers":{"openai-native":{"settings":{"apiKey":"k"}}}}' > ~/.cline/data/settings/providers.json
`

// docSession lays a session down as Claude Code does.
const docSession = `winnow compact session.json --force --to claude-code > made.txt
`

var docPages = map[string]docPage{
	"README.md": {
		before: docAgents + docSession + "rm session.json\n",
		not: map[string]string{
			"go install":   "it is fetched from where it is published, or built: scripts/newcomer",
			"go run":       "scripts/newcomer and .ci/run do",
			"go test":      "this is one of them",
			"git clone":    "scripts/newcomer does",
			"cd winnow":    "it follows the clone",
			"export PATH=": "it follows go install",
			"sleep 2":      "the shell here waits until they listen",
			"kill %":       "the shell here ends them",
		},
		after: `
grep -q '"overflow"' <(winnow classify --json < refused.json)
grep -qi '^winnow-plan:' headers.txt
grep -q '"choices"' answer.json
`,
	},
	"CONTRIBUTING.md": {not: map[string]string{"go run": "CI does", "go test": "this is one of them", ".ci/run": "this is a part of it"}},
	"docs/control.md": {
		before: docGateway + docRequest + `
list=$(curl -s -H "Winnow-Key: secret-of-the-docs" http://$(address serve)/winnow/conversations)
ID=$(grep -o '"id":"[0-9a-f]*"' <<< "$list" | tail -1 | cut -d'"' -f4)
PLAN=$(grep -o '"plan":"[^"]*"' <<< "$list" | tail -1)
`,
		words: map[string]string{"ID": "$ID", "127.0.0.1:8484": "$(address serve)", `"plan": ""`: `'"$PLAN"'`},
	},
	"docs/fleet.md": {
		before: "echo 'me secret-of-the-docs' > keys\nexport ANTHROPIC_API_KEY=sk-doc\n",
		words:  map[string]string{"postgres://owner@db.example/winnow": "$DB", "postgres://winnow@db.example/winnow": "$DB", "0.0.0.0:8484": "127.0.0.1:8484"},
		after:  "curl -s -o ready http://$(address serve)/readyz\ngrep -q postgres ready\n",
	},
	"docs/gateway.md": {
		before: docAgents + docPlans + `rm session.json
your-program() { [ -n "$ANTHROPIC_BASE_URL" ] && command curl -sSf "$ANTHROPIC_BASE_URL/healthz"; }
`,
		words: map[string]string{"/plans/ID": "/plans/$(plan)", "-d @session.json": `-d @session.json -H "Authorization: Bearer $OPENAI_API_KEY"`},
		after: `grep -q '"choices"' answer.json
`,
	},
	"docs/install.md": {
		before: `
mkdir -p winnow_VERSION_linux_amd64
printf '#!/bin/sh\necho released\n' > winnow_VERSION_linux_amd64/winnow
chmod +x winnow_VERSION_linux_amd64/winnow
tar czf winnow_VERSION_linux_amd64.tar.gz winnow_VERSION_linux_amd64
sha256sum winnow_VERSION_linux_amd64.tar.gz > SHA256SUMS
`,
		not: map[string]string{
			"go install": "it is fetched from where it is published",
			"docker":     "it needs a container daemon",
		},
		after: "[ \"$(~/.local/bin/winnow)\" = released ]\n",
	},
	"docs/quick-start.md": {
		before: docAgents + `
winnow compact session.json --force --to codex > made.txt
winnow compact session.json --force --to claude-code > made.txt
winnow compact session.jsonl --plan elsewhere.json --out elsewhere.view.json > made.txt
HANDLE=$(winnow plan show elsewhere.json --json | grep -o '"handle": "w[a-z0-9]*"' | tail -1 | cut -d'"' -f4)
export ANTHROPIC_API_KEY=sk-doc
ID() { winnow session ls --json | grep -o '"id": "[^"]*"' | tail -1 | cut -d'"' -f4; }
`,
		words: map[string]string{"HANDLE": "$HANDLE", " ID": " $(ID)", "winnow loop --model sim ": "echo hello | winnow loop --model sim "},
		after: "cmp session.jsonl view.json\ngrep -q 'rate limiting' messages.json\n",
	},
	"docs/recall.md": {
		before: docAgents + docPlans + `
start sim winnow sim --listen 127.0.0.1:0 --window 16000
start serve winnow serve --listen 127.0.0.1:0 --upstream openai=http://$(address sim) --window 16000 --keep-originals
curl -s -o answer.json -H "Authorization: Bearer $OPENAI_API_KEY" -H 'content-type: application/json' -d @session.json http://$(address serve)/v1/chat/completions
curl -s -o plan.json -H "Authorization: Bearer $OPENAI_API_KEY" http://$(address serve)/winnow/plans/$(plan)
HANDLE=$(grep -o '"handle":"w[a-z0-9]*"' plan.json | tail -1 | cut -d'"' -f4)
`,
		words: map[string]string{"w3kfa82nq": "$HANDLE", "panic parser": "rate limiting", "disk full": "rate limiting"},
		after: "[ -s original.txt ]\ngrep -q winnow ~/.claude.json\ngrep -q 'mcp add' ~/ran\n",
	},
	"docs/settings.md":        {},
	"docs/troubleshooting.md": {},
	"docs/agents": {
		before: docAgents + "export ANTHROPIC_API_KEY=sk-doc OPENAI_API_KEY=sk-doc GEMINI_API_KEY=sk-doc\n",
		after:  "grep -q 'fix the build\\|--config' ~/ran\ngrep -q 127.0.0.1 ~/ran\n",
	},
}

// TestDocs runs the commands of the documents. A document with commands has to be in
// the table, so that nobody is shown a command that fails.
func TestDocs(t *testing.T) {
	for _, program := range []string{"bash", "curl", "tar", "sha256sum"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	err = filepath.WalkDir(filepath.Join(root, "docs"), func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(files, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := shellLines(string(text))
		if len(lines) == 0 {
			continue
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		name = filepath.ToSlash(name)
		t.Run(name, func(t *testing.T) {
			p, ok := docPages[name]
			if !ok {
				if p, ok = docPages[filepath.ToSlash(filepath.Dir(name))]; !ok {
					t.Fatal("it shows commands, and the table does not say how they are run")
				}
			}
			runPage(t, name, p, lines)
		})
	}
}

// shellLines returns the lines of a document's blocks of ```sh, with those that go on
// behind a backslash in one.
func shellLines(text string) []string {
	var lines []string
	inside := false
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		line = strings.TrimSpace(line)
		switch {
		case line == "```sh":
			inside = true
		case strings.HasPrefix(line, "```"):
			inside = false
		case inside && line != "":
			lines = append(lines, line)
		}
	}
	return lines
}

// docShell is what every page's script begins with: servers that are started, waited for
// and ended, and a curl that fails where a server refuses.
const docShell = `set -euo pipefail
set -f
trap 'kill $(jobs -p) 2> /dev/null || true' EXIT
start() { local log=$1.log; shift; rm -f "$log"; "$@" > "$log" 2>> errors.log & local job=$!; until [ -s "$log" ]; do kill -0 $job || { cat errors.log; return 1; }; sleep 0.02; done; }
address() { head -1 "$1.log"; }
answered() {
  command curl -w '%{stderr}%{http_code}' "$@" 2> code
  case $(tail -c 3 code) in 200|204|400) ;; *) cat code; echo " from $*"; return 1 ;; esac
}
curl() { answered "$@"; }
`

var docServer = regexp.MustCompile(`^winnow (serve|sim|work)\b([^#>&]*).*$`)

// runPage runs the lines of a page.
func runPage(t *testing.T, name string, p docPage, lines []string) {
	t.Helper()
	home := isolate(t)
	for _, variable := range []string{"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "XDG_DATA_HOME", "XDG_CACHE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"} {
		t.Setenv(variable, "")
	}
	if name == "docs/fleet.md" {
		t.Setenv("DB", pgtest.Shared(t).Database(t))
	}
	work := filepath.Join(home, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"session.json", "session.jsonl"} {
		if err := os.WriteFile(filepath.Join(work, file), demo.Session(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script, ran := docScript(p, lines)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir = work
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Run(); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	t.Logf("%d of %d lines were run", ran, len(lines))
}

// docScript puts together what is run for a page, and counts its lines.
func docScript(p docPage, lines []string) (text string, ran int) {
	var b strings.Builder
	b.WriteString(docShell + p.before)
	used := map[string]bool{}
next:
	for _, line := range lines {
		for not := range p.not {
			if strings.Contains(line, not) {
				used[not] = true
				continue next
			}
		}
		ran++
		for word, instead := range p.words {
			line = strings.ReplaceAll(line, word, instead)
		}
		b.WriteString("printf '\\n$ %s\\n' " + docQuoted(line) + "\n" + asRun(line) + "\n")
	}
	b.WriteString(p.after)
	for not := range p.not {
		if !used[not] {
			b.WriteString("echo 'no line has " + not + " any more: take it out of the table'; exit 1\n")
		}
	}
	return b.String(), ran
}

// asRun changes a line as far as a script needs it: servers listen on a port that is
// free and are waited for, others find them there, and what shows a session live
// shows it once.
func asRun(line string) string {
	if m := docServer.FindStringSubmatch(line); m != nil {
		args := strings.ReplaceAll(strings.ReplaceAll(m[2], "127.0.0.1:8485", "$(address sim)"), "--listen $(address sim)", "--listen 127.0.0.1:8485")
		args = regexp.MustCompile(`--listen \S+`).ReplaceAllString(args, "")
		if m[1] != "work" {
			args += " --listen 127.0.0.1:0"
		}
		return "start " + m[1] + " winnow " + m[1] + args
	}
	line = strings.ReplaceAll(strings.ReplaceAll(line, "127.0.0.1:8485", "$(address sim)"), "127.0.0.1:8484", "$(address serve)")
	if strings.HasPrefix(line, "winnow watch") && !strings.Contains(line, "--once") {
		return strings.Replace(line, "winnow watch", "winnow watch --once", 1)
	}
	return line
}

func docQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
