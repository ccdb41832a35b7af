package main

import (
	"fmt"
	"strings"
)

// page writes what was measured, beside an earlier tree if there is one.
func page(before, now *house) string {
	var b strings.Builder
	b.WriteString("# The house\n\n<!-- Written by scripts/house. Do not edit. -->\n\n")
	fmt.Fprintf(&b, "What depends on what, how large programs are, what is public and who uses it, and how much code there is: measured by `scripts/house [COMMIT]`, with %s.", now.system)
	if before != nil {
		fmt.Fprintf(&b, " Compared with %s.", before.commit)
	}
	b.WriteString("\n\n## Packages that a package needs\n\nItself included. Others are packages of other modules, in brackets the number of these modules.\n\n")
	t := table{before: before != nil}
	t.head("package", "all", "standard library", "winnow's own", "others")
	for _, layer := range layers {
		t.row(label(layer), columns(before, func(h *house) []string { return h.deps[layer].columns() }), now.deps[layer].columns())
	}
	t.write(&b)

	b.WriteString("\n## Programs\n\nAs `go build` makes them, in MB. A release build, without what debuggers need, is smaller: `scripts/release` prints its sizes.\n\n")
	t = table{before: before != nil}
	t.head("program", "size")
	for _, p := range now.programs {
		size := func(h *house) []string { return []string{megabytes(h.sizes[p.name])} }
		t.row(p.name, columns(before, size), size(now))
	}
	t.write(&b)

	b.WriteString("\n## Lines of code\n\nGo without tests, comments, blank lines and generated files.\n\n")
	t = table{before: before != nil}
	t.head("part", "lines")
	for _, a := range areas {
		lines := func(h *house) []string { return []string{thousands(h.lines[a.name])} }
		t.row(a.name, columns(before, lines), lines(now))
	}
	all := func(h *house) []string { return []string{thousands(h.all())} }
	t.row("all", columns(before, all), all(now))
	t.write(&b)

	b.WriteString("\n## Public packages\n\nExported functions, types, variables, constants and methods are names.")
	if before != nil {
		fmt.Fprintf(&b, " Before: %d packages with %s names.", len(before.public), thousands(before.names()))
	}
	fmt.Fprintf(&b, " Now: %d packages with %s names.\n\n", len(now.public), thousands(now.names()))
	b.WriteString(publicTable(before, now))
	return b.String()
}

// megabytes is a size for people, or a dash for a program that is not there.
func megabytes(n int64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", float64(n)/1e6)
}

func (h *house) all() (n int) {
	for _, lines := range h.lines {
		n += lines
	}
	return n
}

func (h *house) names() (n int) {
	for _, p := range h.public {
		n += p.names
	}
	return n
}

// publicTable has a row for each public package, and for those that are gone.
func publicTable(before, now *house) string {
	var b strings.Builder
	earlier := map[string]publicPackage{}
	if before == nil {
		b.WriteString("| package | names | what it is | who imports it |\n|---|--:|---|---|\n")
	} else {
		b.WriteString("| package | names before | now | what it is | who imports it |\n|---|--:|--:|---|---|\n")
		for _, p := range before.public {
			earlier[p.name] = p
		}
	}
	for _, p := range now.public {
		names := fmt.Sprint(p.names)
		if before != nil {
			was := "-"
			if e, ok := earlier[p.name]; ok {
				was = fmt.Sprint(e.names)
			}
			names = was + " | " + names
			delete(earlier, p.name)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", label(p.name), names, p.says, p.usedBy())
	}
	if before == nil {
		return b.String()
	}
	for _, p := range before.public {
		if _, gone := earlier[p.name]; gone {
			fmt.Fprintf(&b, "| `%s` | %d | - | | no longer public |\n", p.name, p.names)
		}
	}
	return b.String()
}

// mostUsers is how many packages are named that import one.
const mostUsers = 5

func (p *publicPackage) usedBy() string {
	if len(p.users) == 0 {
		return "other programs"
	}
	named := make([]string, 0, mostUsers)
	for _, u := range p.users[:min(len(p.users), mostUsers)] {
		named = append(named, "`"+label(u)+"`")
	}
	text := strings.Join(named, ", ")
	if p.tests {
		text = "tests of " + text
	}
	if more := len(p.users) - mostUsers; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func label(pkg string) string {
	if pkg == "." {
		return "winnow"
	}
	return strings.TrimPrefix(pkg, "./")
}

func (d deps) columns() []string {
	others := fmt.Sprint(d.others)
	if d.modules > 0 {
		others += fmt.Sprintf(" (%d)", d.modules)
	}
	return []string{fmt.Sprint(d.standard + d.own + d.others), fmt.Sprint(d.standard), fmt.Sprint(d.own), others}
}

func columns(h *house, f func(*house) []string) []string {
	if h == nil {
		return nil
	}
	return f(h)
}

// table has a name in each row and numbers behind it, each of them twice where
// there is something to compare with.
type table struct {
	before bool
	lines  []string
}

func (t *table) head(name string, titles ...string) {
	line, rule := "| "+name, "|---"
	for _, title := range titles {
		if t.before {
			line, rule = line+" | "+title+" before | now", rule+"|--:|--:"
		} else {
			line, rule = line+" | "+title, rule+"|--:"
		}
	}
	t.lines = append(t.lines, line+" |", rule+"|")
}

func (t *table) row(name string, was, is []string) {
	line := "| " + name
	for i := range is {
		if t.before {
			line += " | " + was[i]
		}
		line += " | " + is[i]
	}
	t.lines = append(t.lines, line+" |")
}

func (t *table) write(b *strings.Builder) {
	b.WriteString(strings.Join(t.lines, "\n") + "\n")
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
