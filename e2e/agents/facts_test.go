package agents

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// told makes agents that compact by themselves in a window that they are told: what
// they do without winnow. Gemini CLI cannot be told and has its model's; Cline compacts by
// its list of models, whatever its settings say of the window.
var told = map[string]func(a *agent, window int){
	"claude": func(a *agent, window int) {
		env := a.env
		a.env = func(gateway string) []string {
			list := append(env(""), "ANTHROPIC_BASE_URL="+gateway)
			return append(list, "CLAUDE_CODE_AUTO_COMPACT_WINDOW="+strconv.Itoa(window))
		}
	},
	"codex": func(a *agent, window int) {
		args := a.args
		a.args = func(gateway, home string) []string {
			return append([]string{"-c", "model_context_window=" + strconv.Itoa(window)}, args(gateway, home)...)
		}
	},
	"gemini": func(a *agent, _ int) {
		files := a.files
		a.files = func(string) map[string]string { return files("") }
	},
	"opencode": func(a *agent, window int) { tellOpencode(a, "OPENCODE", window) },
	"kilo":     func(a *agent, window int) { tellOpencode(a, "KILO", window) },
	"continue": func(a *agent, window int) {
		files := a.files
		a.files = func(gateway string) map[string]string {
			config := files("")[".continue/config.yaml"] + fmt.Sprintf("    apiBase: %s/v1/\n    defaultCompletionOptions: {contextLength: %d}\n", gateway, window)
			return map[string]string{".continue/config.yaml": config}
		}
	},
	"qwen": func(a *agent, window int) {
		a.files = func(string) map[string]string {
			return map[string]string{".qwen/settings.json": fmt.Sprintf(`{"privacy":{"usageStatisticsEnabled":false},"general":{"disableAutoUpdate":true},"model":{"generationConfig":{"contextWindowSize":%d}}}`, window)}
		}
	},
	"dsh": func(a *agent, window int) {
		a.files = func(string) map[string]string {
			return map[string]string{".dsh/cordis.patch.yml": fmt.Sprintf("- id: llm-deepseek\n  config: {maxTokens: 32000, models: [{id: deepseek-v4-flash, contextWindow: %d}]}\n", window)}
		}
	},
	"copilot": func(a *agent, window int) {
		env := a.env
		a.env = func(gateway string) []string {
			return append(env(""), "COPILOT_PROVIDER_BASE_URL="+gateway, "COPILOT_PROVIDER_MAX_PROMPT_TOKENS="+strconv.Itoa(window))
		}
	},
	"pi": func(a *agent, window int) {
		a.files = func(gateway string) map[string]string {
			return map[string]string{".pi/agent/models.json": fmt.Sprintf(`{"providers":{"anthropic":{"baseUrl":%q,"modelOverrides":{%q:{"contextWindow":%d}}}}}`, gateway, a.model, window)}
		}
	},
}

// tellOpencode tells opencode or Kilo its window.
func tellOpencode(a *agent, prefix string, window int) {
	a.env = func(gateway string) []string {
		config := fmt.Sprintf(`{"permission":"allow","snapshot":false,"lsp":false,"provider":{"anthropic":{"options":{"baseURL":%q},"models":{%q:{"limit":{"context":%d,"output":32000}}}}}}`,
			gateway+"/v1", a.model, window)
		return []string{"ANTHROPIC_API_KEY=" + a.key, prefix + "_DISABLE_AUTOUPDATE=1", prefix + "_CONFIG_CONTENT=" + config}
	}
}

// realSources are folders with sources in three languages, as far as this machine
// has them: Go's own library, npm and Python's.
func realSources() []string {
	var out []string
	for _, from := range []struct {
		below string
		ask   []string
	}{
		{"src", []string{"go", "env", "GOROOT"}},
		{"npm/lib", []string{"npm", "root", "-g"}},
		{"", []string{"python3", "-c", "import os; print(os.path.dirname(os.__file__))"}},
	} {
		text, err := exec.Command(from.ask[0], from.ask[1:]...).Output()
		dir := filepath.Join(strings.TrimSpace(string(text)), from.below)
		if _, stat := os.Stat(dir); err == nil && stat == nil {
			out = append(out, dir)
		}
	}
	return out
}

// readFiles lets an agent read source files, through wrap or alone, and returns what
// became of it.
func (a agent) readFiles(t *testing.T, window, files int, wrap bool) (account, string) {
	t.Helper()
	dir := t.TempDir()
	more := []string{
		"--drive", "files", "--drive-folder", a.folder(dir), "--drive-bytes", envOr("WINNOW_BYTES", "9000"),
		"--seed", envOr("WINNOW_SEED", "1"), "--drive-sources", strings.Join(realSources(), ","),
	}
	provider := window
	if !wrap {
		// An agent that is told a window does not ask for less output. Its own compaction
		// decides here, so the provider has room for that beside the window.
		provider += 64_000
	}
	sim := a.simulator(t, provider, files, 40, more...)
	to := sim.url
	if os.Getenv("WINNOW_BODIES") != "" {
		to = newTap(t, to, nil).URL
	}
	var out string
	var err error
	if wrap {
		before := append([]string{winnow, "wrap", "--window", strconv.Itoa(window)}, upstreams(to)...)
		if window == own[a.name].window || os.Getenv("WINNOW_MODEL") != "" {
			before = slices.Delete(before, 2, 4) // it is the model's own: nothing is set
		}
		out, err = a.work(t, dir, "", before...)
	} else {
		told[a.name](&a, window)
		out, err = a.work(t, dir, to)
	}
	got := only(t, accounts(t, sim.url))
	if got.Refused > 0 {
		var all asked
		getJSON(t, sim.url+"/sim/requests", &all)
		t.Logf("refused: %v", all.RefusedBy)
	}
	if err != nil {
		t.Errorf("%s: %v\n%s", a.name, err, tail(out))
	}
	return got, out
}

func envOr(name, or string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return or
}

// ask makes an agent ask for another model; "" for none.
func (a *agent) ask(model string) {
	if model == "" {
		return
	}
	args, was := a.args, a.model
	a.model = model
	a.args = func(gateway, home string) []string {
		list := args(gateway, home)
		for i := range list {
			list[i] = strings.Replace(list[i], was, model, 1)
		}
		return list
	}
}

// TestFacts lets agents read source files of several windows and need facts of files that
// they read long before, alone, with their own compaction in a window that they
// were told, and through winnow wrap with nothing set.
func TestFacts(t *testing.T) {
	agents, whole := chosen(t)
	if !whole {
		agents = slices.DeleteFunc(agents, func(a agent) bool { return a.name != "pi" })
	}
	list := windows(t)
	if os.Getenv("WINNOW_WINDOWS") == "" {
		list = []int{100_000}
	}
	for _, a := range agents {
		if told[a.name] == nil {
			continue
		}
		a.ask(os.Getenv("WINNOW_MODEL"))
		for _, window := range list {
			t.Run(fmt.Sprintf("%s/%d", a.name, window), func(t *testing.T) {
				most := 60 * window / 100_000
				if a.name == "kilo" { // alone it ends at its fourth compaction
					most = 33 * window / 100_000
				}
				files, err := strconv.Atoi(envOr("WINNOW_FILES", strconv.Itoa(most)))
				if err != nil {
					t.Fatal(err)
				}
				alone, out := a.readFiles(t, window, files, false)
				keepFacts(t, a, window, "alone", alone, alone)
				if !alone.Ended {
					t.Errorf("alone: %+v\n%s", alone, tail(out))
				}
				under, out := a.readFiles(t, window, files, true)
				keepFacts(t, a, window, "wrap", under, alone)
				t.Logf("wrap says:\n%s\nmissed:\n%s", lines(out, "winnow: "), strings.Join(under.Missed, "\n"))
				if !under.Ended || under.Refused != 0 || under.Repeats != 0 || under.Lost != 0 {
					t.Errorf("under winnow: %+v\n%s", under, tail(out))
				}
				if under.Summaries != 0 {
					t.Errorf("it compacted by itself, %d times", under.Summaries)
				}
				doNoHarm(t, under, alone)
			})
		}
	}
}

// doNoHarm checks that winnow is not worse than the agent alone.
func doNoHarm(t *testing.T, under, alone account) {
	t.Helper()
	_, far, _, due := under.facts()
	_, farAlone, _, _ := alone.facts()
	if far < farAlone {
		t.Errorf("%d of %d far facts are there, and %d alone", far, due, farAlone)
	}
	if under.FirstCut > 0 && alone.FirstCut == 0 {
		t.Errorf("it was cut at %d tokens, and never alone", under.FirstCut)
	}
	if under.FirstCut > 0 && 10*under.FirstCut < 9*alone.FirstCut {
		t.Errorf("it was cut first at %d tokens, and alone at %d", under.FirstCut, alone.FirstCut)
	}
	if 2*under.Rewrites > 3*alone.Rewrites+2 {
		t.Errorf("%d rewrites, and %d alone", under.Rewrites, alone.Rewrites)
	}
}

// facts are how many near and far ones were there, and how many were needed.
func (a account) facts() (near, far, nearDue, farDue int) {
	for _, f := range a.Facts {
		near += f.NearKept
		nearDue += f.NearDue
		far += f.FarKept
		farDue += f.FarDue
	}
	return near, far, nearDue, farDue
}

// lines are those of a text that begin with a word.
func lines(text, with string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, with) && !strings.Contains(line, "is not a setting") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// factHeader is the head of the table of facts.
const factHeader = "| agent | window | through | ended | requests | refused | repeated | near | far | by kind, far | re-read | first cut | rewrites | own compactions | tokens | cached | dollars | to alone |"

// keepFacts prints what became of a run, and adds it to the file that WINNOW_ROWS
// names, for the table in docs/agents.
func keepFacts(t *testing.T, a agent, window int, through string, got, alone account) {
	t.Helper()
	near, far, nearDue, farDue := got.facts()
	var kinds []string
	var by []factKind
	for _, f := range got.Facts {
		kinds = append(kinds, fmt.Sprintf("%s %d/%d", f.Kind, f.FarKept, f.FarDue))
		by = append(by, factKind{Name: f.Kind, Kept: f.FarKept, Due: f.FarDue})
	}
	ends := "yes"
	if !got.Ended {
		ends = fmt.Sprintf("stops at %d", got.Done)
	}
	fmt.Println(factHeader)
	fmt.Printf("| %s %s | %d | %s | %s of %d | %d | %d | %d | %d/%d | %d/%d | %s | %d | %d | %d | %d | %d | %.0f %% | %.2f | %.2f |\n",
		a.name, a.version, window, through, ends, got.Steps, got.Requests, got.Refused, got.Repeats, near, nearDue, far, farDue,
		strings.Join(kinds, ", "), got.Reread, got.FirstCut, got.Rewrites, got.Summaries, got.Input,
		100*float64(got.CacheRead)/max(1, float64(got.Input)), got.Dollars, got.Dollars/max(1e-9, alone.Dollars))
	if got.Ended {
		addRow(t, factRow{
			Agent: a.name, Window: window, Files: got.Steps, Alone: through == "alone", Near: near, NearDue: nearDue, Far: far, FarDue: farDue,
			Kinds: by, Reread: got.Reread, FirstCut: got.FirstCut, Rewrites: got.Rewrites, Dollars: got.Dollars,
		})
	}
}
