package providersim

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// work is what a driver has an agent do: what its parts print, computed here as
// the script computes it in the agent's shell.
type work struct {
	steps, bytes, lag int
	seed              int64
	pause             time.Duration
	recalls           bool
}

var partEnd = regexp.MustCompile(`part ([0-9]+) of [0-9]+ is done, code [0-9]+`)

// secretValue is a number that nobody can guess from the commands: the fifth of a
// generator with this start. All of it is exact in awk's numbers too.
func (w work) secretValue(n int) int64 {
	x := (w.seed*100_000+int64(n))%2147483646 + 1
	for range 5 {
		x = x * 16807 % 2147483647
	}
	return x
}

// finalLine is the line with which the output of a part ends; of part 0, none.
func (w work) finalLine(part int) string {
	if part == 0 {
		return "none"
	}
	return fmt.Sprintf("part %d of %d is done, code %d", part, w.steps, w.secretValue(part+90_000))
}

// plantsFact tells whether a part has a fact in its output.
func (w work) plantsFact(part int) bool { return part%2 == 0 }

// factName is what the fact of a part is called: what a model that needs it knows of it.
func (w work) factName(part int) string {
	switch part % 8 {
	case 2:
		return fmt.Sprintf("retry_limit_%03d", part)
	case 4:
		return fmt.Sprintf("cache_of_%03d", part)
	case 6:
		return fmt.Sprintf("timeout_%03d", part)
	}
	return fmt.Sprintf("lease_%03d.go", part)
}

func (work) lastLine() *regexp.Regexp { return partEnd }

func (w work) need(part int) need {
	if from := part - w.lag; from > 0 && w.plantsFact(from) {
		return need{from: from, kind: factLine, name: w.plantedFact(from)}
	}
	return need{}
}

func (w work) lostFact(part int) lost {
	from := part - w.lag
	name := w.factName(from)
	return lost{key: part, words: name, find: name, said: fmt.Sprintf("sh drive.sh %d)", from)}
}

func (w work) writeSummary(seen int, _ func(need) bool) string {
	return fmt.Sprintf("The work has %d parts. The last that was done: %s. The next is part %d.", w.steps, w.finalLine(seen), seen+1)
}

func (w work) callAgain(_ *Ask, shell Tool, part int, _ bool) (call Block, why string) {
	from := part - w.lag
	return shell.shellCall(fmt.Sprintf("sh drive.sh %d again", from)), fmt.Sprintf("Part %d needs what part %d said, so I print that again first.", part, from)
}

// plantedFact is the fact in a part's output: a number, a path that stands in prose,
// a line of a file, and a line that looks like all the others around it.
func (w work) plantedFact(part int) string {
	switch name := w.factName(part); part % 8 {
	case 2:
		return fmt.Sprintf("%s = %d", name, w.secretValue(part))
	case 4:
		return fmt.Sprintf("%s = var/cache/%d/index.db", name, w.secretValue(part))
	case 6:
		return fmt.Sprintf("%s = %dms", name, w.secretValue(part))
	default:
		return fmt.Sprintf("ok   internal/store/%s:%d checksum %d took 0.%03ds, lease renewed", name, part, w.secretValue(part), part)
	}
}

// partCommand prints a part, and uses a fact. With the script in it, it works
// wherever the agent's shell is; later ones are short, as what people type.
func (w work) partCommand(part int, fact string, script bool) string {
	run := fmt.Sprintf("sh drive.sh %d", part)
	if fact != "" {
		run += " '" + fact + "'"
	}
	if script {
		return "cat > drive.sh <<'END'\n" + w.script() + "END\n" + run
	}
	return run
}

// script is the program of every part, for sh and any awk. Most parts print what
// test runs and compilers print, lines of a few forms; every eighth prints prose, in
// which no two lines begin alike. It notes what it ran
// in drive.log: what really happened, whatever anybody counted. A fact that is a
// line of a file is used by changing that line, which needs it word for word.
func (w work) script() string {
	set := fmt.Sprintf("-v seed=%d -v bytes=%d -v steps=%d -v lag=%d", w.seed, w.bytes, w.steps, w.lag)
	text := strings.ReplaceAll(driveScript, "SETTINGS", set)
	if w.pause > 0 {
		text += fmt.Sprintf("sleep %.1f\n", w.pause.Seconds())
	}
	return text
}

const driveScript = `echo "$1 $2" >> drive.log
awk -v part="$1" -v fact="$2" SETTINGS '
function value(n,  x, i) {
  x = (seed * 100000 + n) % 2147483646 + 1
  for (i = 0; i < 5; i++) x = (x * 16807) % 2147483647
  return x
}
function planted(n) {
  if (n % 8 == 2) return sprintf("retry_limit_%03d = %d", n, value(n))
  if (n % 8 == 4) return sprintf("cache_of_%03d = var/cache/%d/index.db", n, value(n))
  if (n % 8 == 6) return sprintf("timeout_%03d = %dms", n, value(n))
  return sprintf("ok   internal/store/lease_%03d.go:%d checksum %d took 0.%03ds, lease renewed", n, n, value(n), n)
}
function noise(upto,  line) {
  while (size < upto) {
    x = (x * 16807) % 2147483647
    if (part % 8 == 4) line = prose()
    else if (x % 5 == 0) line = sprintf("--- PASS: TestLease%d (%d.%03ds)", x % 211, x % 7, x % 1000)
    else if (x % 7 == 0) line = sprintf("[%d] compiled internal/store/lease_%d.go: %s", x % 100000, x % 97, words[x % 8])
    else line = sprintf("ok   internal/store/lease_%d.go:%d checksum %d took %d.%03ds, %s", x % 97, x % 1213, x, x % 7, x % 1000, words[x % 8])
    size += length(line) + 1
    print line
  }
}
function prose(  line, i) {
  line = nouns[x % 8]
  for (i = 0; i < 4; i++) {
    x = (x * 16807) % 2147483647
    line = line " " verbs[x % 8] " " nouns[int(x / 8) % 8]
  }
  return line "."
}
function use(line,  file, was) {
  if (line != planted(part - lag)) return "is not what part " (part - lag) " said"
  if ((part - lag) % 8 != 6) return "is right"
  file = sprintf("part-%03d.conf", part - lag)
  if ((getline was < file) <= 0 || was != line) return "is not a line of " file
  close(file)
  print line " # checked" > file
  return "is changed in " file
}
BEGIN {
  part += 0
  split("lock held|cursor at end|batch closed|deadline kept|header read|retry not needed|lease renewed|nothing to migrate", w, "|")
  split("the lease|a batch|its cursor|each header|that lock|the deadline|one migration|every retry", n, "|")
  split("waits for|is read before|belongs to|keeps|must not touch|comes after|is told by|ends with", v, "|")
  for (i = 1; i <= 8; i++) { words[i - 1] = w[i]; nouns[i - 1] = n[i]; verbs[i - 1] = v[i] }
  if (fact != "" && fact != "again") print "the fact " use(fact)
  x = value(part + 50000)
  noise(bytes / 2)
  if (part % 2 == 0) {
    print planted(part)
    if (part % 8 == 6 && fact != "again") print planted(part) > sprintf("part-%03d.conf", part)
  }
  noise(bytes - 60)
  printf "part %d of %d is done, code %d\n", part, steps, value(part + 90000)
}'
`
