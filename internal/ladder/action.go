package ladder

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/find"
	"github.com/winnow-llm/winnow/internal/quote"
	"github.com/winnow-llm/winnow/internal/work"
)

// Widths of what an action's line quotes, in bytes.
const (
	commandWidth = 160
	verdictWidth = 160
)

// action is what is told of one or several like calls of a turn.
type action struct {
	step    int // the last of them
	times   int
	plus    int // lines that edits put in, and took out
	minus   int
	all     bool // they did at every place
	once    bool // must not be done twice
	failed  bool
	again   bool // a file was read before, and something else done since
	further bool // and other lines of it
	looks   bool // a read or search: told together with its neighbours
	subject string
	folder  string // in which a command ran, where it says so
	shows   string // an error that a result shows among other things
	mended  bool   // it failed, and the turn made it pass later
	refused bool   // the user or the harness did not let it run
}

// turnActions returns the actions in the steps of one turn: like calls are told
// together where the last of them stood, reads also where the first did.
func (r *Reading) turnActions(from, to int, in func(msg int) bool) []action {
	list := r.acts[:0]
	last := map[string]int{} // by the action: its place in the list
	changed := -1            // the place of the newest change of a file
	spoken := 0              // how many stood before the agent's newest words
	forget := func(which func(x *step) bool) {
		maps.DeleteFunc(last, func(_ string, at int) bool { return which(&r.steps[list[at].step]) })
	}
	for k := from; k < to; k++ {
		s := &r.steps[k]
		if s.kind == said {
			spoken = len(list)
			forget(func(x *step) bool { // an edit that is spoken of stays before the words
				return x.access.Kind == work.ToolEdit && strings.Contains(s.text, baseName(x.access.Path))
			})
		}
		polled := -1 // the place of the command whose state this one asks for
		if s.kind == did && s.polls > 0 {
			polled = slices.IndexFunc(list, func(b action) bool { return b.step == s.polls-1 })
		}
		if s.kind != did || !in(int(s.msg)) || work.AboutTodos(s.call.Name) && !work.StartsAgent(s.call.Name) || isAnswered(s) {
			continue
		}
		a := r.newAction(k)
		if polled >= 0 { // the last state is told
			a.times, list[polled].times = list[polled].times, 0
		}
		what := a.subject
		if s.access.Kind == work.ToolShell || s.access.Kind == work.ToolSearch && s.access.Query == "" && s.access.Command != "" { // or it lists
			what = fullCommand(&s.access)
		}
		key := fmt.Sprint(s.access.Kind, s.result == nil, a.failed, duration.ReplaceAllString(a.shows, ""), "\x00", what, "\x00", r.awayFolder(&a))
		if at, ok := last[key]; ok && (!a.once || r.sameResult(list[at].step, k)) && (at > changed || s.access.Kind != work.ToolShell && s.access.Query == "" || r.sameResult(list[at].step, k)) {
			old := &list[at]
			if again := a.looks && s.access.Kind == work.ToolRead; !again || old.again { // else what was said since rests on the first
				a.times, a.plus, a.minus = a.times+old.times, a.plus+old.plus, a.minus+old.minus
				old.times = 0 // told with the later one
			} else if a.again = at < spoken; !a.again {
				a.times += old.times
				old.times = 0
			} else {
				x, y := &r.steps[old.step].access, &s.access
				a.further = x.To > 0 && y.To > 0 && (x.From > y.To || y.From > x.To)
			}
		}
		switch s.access.Kind {
		case work.ToolEdit, work.ToolWrite, work.ToolDelete:
			changed = len(list)
			forget(func(x *step) bool { return x.access.Kind == work.ToolRead && x.access.Path == s.access.Path })
		case work.ToolShell, work.ToolSearch: // later changes are not what it ran on
			forget(func(x *step) bool {
				return x.access.Kind == work.ToolEdit && (s.access.Command != "" || s.access.Query != "")
			})
		}
		last[key] = len(list)
		list = append(list, a)
	}
	r.acts = list
	list = slices.DeleteFunc(list, func(a action) bool { return a.times == 0 })
	for i := range list {
		if a := &list[i]; !a.refused && (a.failed || a.shows != "") && r.steps[a.step].access.Kind == work.ToolShell {
			a.mended = r.isRedone(a, to, mendedBy)
		}
	}
	return list
}

// mendedBy is how many commands that came off later are asked whether they settle a
// failure.
const mendedBy = 8

// sameResult reports whether two calls returned the same, but for how long it took.
func (r *Reading) sameResult(a, b int) bool {
	x, y := r.steps[a].result, r.steps[b].result
	return x != nil && y != nil && (x.Text == y.Text || duration.ReplaceAllString(x.Text, "") == duration.ReplaceAllString(y.Text, ""))
}

// duration is how long something took.
var duration = regexp.MustCompile(`\b\d+(?:\.\d+)? ?m?s\b`)

// newAction reads one call, once its result is there for good.
func (r *Reading) newAction(k int) action {
	s := &r.steps[k]
	if s.read != nil {
		return *s.read
	}
	a := r.readAction(k)
	if s.result != nil && k < mostKept {
		s.read = &a
	}
	return a
}

func (r *Reading) readAction(k int) action {
	s := &r.steps[k]
	a := action{step: k, times: 1}
	if s.result != nil {
		a.failed, _, _ = work.Status(s.result)
	}
	acc := &s.access
	if acc.Command != "" {
		a.folder = acc.Folder
	}
	if s.result != nil {
		a.refused = refusalIn(s, a.failed) != ""
		a.failed = a.failed || a.refused
	}
	if s.result != nil && !a.refused && acc.Kind != work.ToolSearch && !work.StartsAgent(s.call.Name) {
		text := s.result.Text
		switch {
		case s.lines > 0 || acc.Kind == work.ToolRead && !a.failed:
			text = besideLines(text) // lines of files may speak of errors
		case !a.failed && isManual(withoutFrame(text)):
			text = ""
		}
		least := 3
		if _, exit, known := work.Status(s.result); known && exit == 0 && !strings.ContainsAny(acc.Command, "|;\n") {
			least = 4 // it may show a text about errors
		}
		if l := clearestError(text); work.Clearness(l) >= least && (a.failed || !allPassed(tallyLine(text)) && !isList(text) && !tellsHistory.MatchString(acc.Rest)) { // else what a test that passed printed
			a.shows = l
		}
	}
	switch {
	case acc.Path != "" && acc.Kind == work.ToolEdit:
		for _, e := range work.Edits(s.call, r.kinds, "") {
			plus, minus := work.CountChanges(e.Old, e.New)
			a.plus, a.minus, a.all = a.plus+plus, a.minus+minus, a.all || e.All
		}
		a.subject = filesOf(acc)
	case acc.Path != "" && (acc.Kind == work.ToolRead || acc.Kind == work.ToolSearch && acc.Query == ""):
		a.looks = !a.failed && a.shows == ""
		a.subject = filesOf(acc)
	case acc.Kind == work.ToolSearch && acc.Query != "":
		a.looks = !a.failed
		a.subject = acc.Query + "\x00" + acc.Path + "\x00" + acc.Only
	case acc.Command != "":
		a.subject = trimCommand(acc.Rest)
		a.once = !a.failed && doneOnce(a.subject) && (s.result == nil || !stopsHalfway.MatchString(s.result.Text))
	default:
		a.subject = s.call.Name + s.call.Args
		a.once = !a.failed && changesWorld(s.call.Name) && !work.AboutTodos(s.call.Name)
	}
	return a
}

// tellsHistory are commands whose output has titles of commits, which speak of errors.
var tellsHistory = regexp.MustCompile(`^git (?:-C \S+ )?(?:log|show|reflog)\b`)

// stopsHalfway are the lines with which git leaves conflicts to be resolved.
var stopsHalfway = regexp.MustCompile(`(?m)^(?:Automatic merge failed|CONFLICT \(|error: could not apply)`)

func filesOf(a *work.Access) string {
	return strings.Join(append([]string{a.Path}, a.Paths...), "\x00")
}

// actionLine writes an action with its verdict.
func (r *Reading) actionLine(a *action) string {
	if text, ok := r.told[*a]; ok {
		return text
	}
	s := &r.steps[a.step]
	text := r.describeCall(s, a)
	switch {
	case a.further:
		text += ", other lines"
	case a.again:
		text += " again"
	}
	if a.times > 1 {
		text += fmt.Sprintf(" %d times", a.times)
	}
	if a.plus+a.minus > 0 && !a.failed && s.result != nil {
		text += fmt.Sprintf(" (+%d -%d", a.plus, a.minus)
		if a.times > 1 {
			text += " together"
		}
		if a.all {
			text += " at every place"
		}
		text += ")"
	}
	text += r.verdictOf(s, a)
	if s.result != nil && a.step < mostKept {
		r.told[*a] = text
	}
	return text
}

// describeCall says what a call did.
func (r *Reading) describeCall(s *step, a *action) string {
	acc := &s.access
	files, most := shortPath(r.folder, acc.Path), 4
	if acc.Kind == work.ToolSearch {
		most = 2
	}
	for i, p := range acc.Paths {
		if i == most {
			files += fmt.Sprintf(" and %d more", len(acc.Paths)-i)
			break
		}
		files += ", " + shortPath(r.folder, p)
	}
	switch {
	case acc.Path != "" && fileVerbs[acc.Kind] != "":
		return fileVerbs[acc.Kind] + " " + files
	case acc.Kind == work.ToolSearch && acc.Query != "" && !acc.Mixed && !strings.Contains(s.call.Name, "__"): // a service looks for what it has
		text := "searched for `"
		if acc.Names || acc.Command == "" && findsFiles.MatchString(s.call.Name) {
			text = "looked for files named `"
		}
		text += quote.Line(quote.ClipLine(acc.Query, commandWidth/2)) + "`"
		if acc.Path != "" && acc.Path != "." {
			text += " in " + files
		}
		if only := acc.Only; only != "" && (path.Ext(acc.Path) == "" || len(acc.Paths) > 0) { // else it is one file
			text += " (only `" + quote.Line(quote.ClipLine(only, commandWidth/2)) + "`)"
		}
		return text
	case acc.Command != "":
		text := "ran `" + quote.Line(clipMiddle(trimCommand(acc.Rest), commandWidth)) + "`"
		if folder := r.awayFolder(a); folder != "" {
			text += " in " + shortPath(r.folder, folder)
		}
		return text
	case acc.Path != "" && acc.Kind == work.ToolSearch:
		return "listed " + files
	}
	return "called " + quote.Line(work.Headline(s.call, commandWidth))
}

// fileVerbs say what is done to files.
var fileVerbs = map[work.Tool]string{work.ToolRead: "read", work.ToolWrite: "wrote", work.ToolDelete: "deleted", work.ToolEdit: "edited"}

// findsFiles are the tools that look for files by their names.
var findsFiles = regexp.MustCompile(`(?i)^find_?files?|^\w*glob`)

// onceWords are commands whose effect leaves the folder, or cannot be had twice.
var onceWords = []string{
	"git commit", "git push", "git merge ", "git rebase", "git reset", "git revert", "git cherry-pick", "git checkout -b", "git switch -c", "git worktree add", "git remote set-url",
	"npm publish", "cargo publish", "twine upload", "docker push", "terraform apply",
	"kubectl apply", "kubectl delete", "helm install", "helm upgrade", "drop table", "sendmail", "vercel --prod",
}

func doneOnce(command string) bool {
	return find.Any(command, onceWords...) || onceVerb.MatchString(command) || removesPath(command)
}

// removesPath reports whether a command takes a path away for good: one that it names
// again afterwards is made anew, and nobody misses a scratch file.
func removesPath(command string) bool {
	m := removal.FindStringSubmatchIndex(command)
	if m == nil {
		return false
	}
	path := strings.Trim(command[m[2]:m[3]], `"'`)
	return !strings.Contains(command[m[1]:], path) && !inScratch(path) && !strings.HasPrefix(path, "$")
}

var removal = regexp.MustCompile(`\brm(?: -\S+)*? -\S*[rf]\S*(?: -\S+)* (\S+)`)

// onceVerb are verbs of programs that no table lists, as words by themselves, and of
// programs that look things up too.
var onceVerb = regexp.MustCompile(`(?:^|[ :])(?:migrate|deploy|publish)(?:[ :]|$)|(?:^|[;&] )\w[\w-]* create |git tag (?:-[asmfd]|[\w"'])|(?:gh (?:pr|issue|release)|glab mr) (?:create|merge|close|comment|edit|review|upload|delete)`)

// worldWords are the verbs of tools that change something outside the files.
var worldWords = []string{"send", "cancel", "book", "modify", "exchange", "return", "create", "update", "delete", "publish", "post", "pay", "transfer", "merge", "deploy", "submit", "refund"}

func changesWorld(tool string) bool { return find.Any(strings.ToLower(tool), worldWords...) }

// slashedPath spells a path with a drive as a Unix shell on Windows does: /d/x for D:\x.
func slashedPath(p string) string {
	if len(p) < 3 || p[1] != ':' || p[2] != '\\' && p[2] != '/' {
		return p
	}
	return "/" + strings.ToLower(p[:1]) + strings.ReplaceAll(p[2:], `\`, "/")
}

// fullPath returns a path in the spelling that all tools understand, safe to quote: D:\x
// for /d/x where they name files so.
func (f *filler) fullPath(p string) string {
	if f.readPresent().drives && len(p) > 2 && p[0] == '/' && p[2] == '/' {
		p = strings.ToUpper(p[1:2]) + ":" + strings.ReplaceAll(p[2:], "/", `\`)
	}
	return quote.Line(p)
}

// shortPath returns a path as seen from a folder, safe to quote.
func shortPath(root, p string) string {
	below, full := slashedPath(root), slashedPath(p)
	if full == below {
		return "."
	}
	if below != "" && len(full) > len(below)+1 && strings.HasPrefix(full, below) && full[len(below)] == '/' {
		p = full[len(below)+1:]
	}
	return quote.Line(quote.ClipLine(p, commandWidth))
}

// commonRoot finds the folder that paths are told from, so that it is named once: the one
// that the session works in, or where that is not known the one that nearly all files of the
// steps are in; "" where there is none.
func (r *Reading) commonRoot() string {
	if base := r.set.Base(); base != "" {
		return base
	}
	counts, files := map[string]int{}, 0
	begins := map[string]bool{} // what relative paths begin with
	for i := range r.steps {
		s := &r.steps[i]
		switch {
		case s.kind != did:
		case strings.HasPrefix(s.access.Path, "/"):
			files++
			for d := path.Dir(s.access.Path); len(d) > 1; d = path.Dir(d) {
				counts[d]++
			}
		default:
			first, _, _ := strings.Cut(s.access.Path, "/")
			begins[first] = true
		}
	}
	best := ""
	for d, n := range counts {
		if n*10 >= files*9 && files > 2 && (len(d) > len(best) || len(d) == len(best) && d < best) {
			best = d
		}
	}
	for d := best; len(d) > 1; d = path.Dir(d) { // a path has one spelling
		if begins[path.Base(d)] {
			best = path.Dir(d)
		}
	}
	return best
}

// heredoc is the start of a text inside a command, with the word that ends it.
var heredoc = regexp.MustCompile("<<-?\\s*['\"]?(\\w+)")

// usualFolder returns the folder in which most commands ran, "" where none has more than
// half of them: many do not say.
func (r *Reading) usualFolder() string {
	counts, all, usual := map[string]int{}, 0, ""
	for k := range r.steps {
		if s := &r.steps[k]; s.kind == did && s.access.Command != "" {
			all++
			if f := s.access.Folder; work.IsAbs(f) {
				if counts[f]++; counts[f] > counts[usual] {
					usual = f
				}
			}
		}
	}
	if counts[usual]*2 <= all {
		return ""
	}
	return usual
}

// awayFolder returns the folder of a command that ran in another than the usual one; where
// none is, the folder of the files and those above it are not told.
func (r *Reading) awayFolder(a *action) string {
	if a.folder == r.usual || r.usual == "" && isAbove(a.folder, r.folder) {
		return ""
	}
	return a.folder
}

// isAbove reports whether a folder is another one, or above it.
func isAbove(folder, other string) bool {
	return folder == "" || strings.HasPrefix(slashedPath(other)+"/", slashedPath(folder)+"/")
}

// trimCommand returns a command on one line, without what only limits its output or
// joins its two streams.
func trimCommand(c string) string {
	c = strings.TrimSpace(strings.ReplaceAll(c, "\\\n", " "))
	if first, rest, more := strings.Cut(c, "\n"); more {
		c = first
		if here := heredoc.FindStringSubmatch(first); here != nil { // its text is told as a file
			text, after, _ := strings.Cut("\n"+rest+"\n", "\n"+here[1]+"\n")
			rest = after
			head, _, _ := strings.Cut(first, here[0])
			if head, ok := strings.CutSuffix(head, "$(cat "); ok { // or it is a message, of which the title is told
				title, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
				end, more, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(after), ")"), "\n")
				c, rest = head+title+end, more
			}
		}
		for l := range strings.Lines(quote.Clip(rest, 2*commandWidth)) {
			if l = strings.Join(strings.Fields(l), " "); l != "" {
				c += " ⏎ " + l
			}
		}
	}
	if short := cosmetics.ReplaceAllString(c, ""); short != "" {
		c = short
	}
	if strings.HasSuffix(c, `\`) {
		c += ";" // find's
	}
	return c
}

// fullCommand returns a command without what only limits its output, for comparing it
// with others.
func fullCommand(a *work.Access) string { return cosmetics.ReplaceAllString(a.Rest, "") }

// cosmetics end a command that should show less.
var cosmetics = regexp.MustCompile(`(?:\s*(?:2>&1|2>/dev/null|;)|\s+\|\s*(?:head|tail)(?:\s+[^\s|&;]+){0,2}|\s)+$`)

// plural writes a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
