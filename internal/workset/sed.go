package workset

import (
	"strconv"
	"strings"
)

// sed adds what sed -i does to its files. Only scripts whose effect is plain are
// read: one substitution of a text without special characters, one range of
// lines that is deleted, one line that is put in.
func (s *step) sed(add func(Edit)) {
	in, given := false, false
	var script []word
	var files []word
	for i := 0; i < len(s.args); i++ {
		w := s.args[i]
		switch {
		case (w.text == "-e" || w.text == "--expression") && i+1 < len(s.args):
			i++
			script, given = append(script, s.args[i]), true
		case strings.HasPrefix(w.text, "-i") || strings.HasPrefix(w.text, "--in-place"):
			in = true
			if w.text == "-i" && i+1 < len(s.args) && s.args[i+1].text == "" {
				i++ // BSD's empty suffix
			}
		case len(w.text) > 1 && w.text[0] == '-':
			in = in || w.text[1] != '-' && strings.Contains(w.text, "i")
			if w.text != "-E" && w.text != "-r" && w.text != "-n" {
				continue
			}
			script = append(script, word{}) // other rules: not read
		case !given:
			script, given = append(script, w), true
		default:
			files = append(files, w)
		}
	}
	if !in {
		return
	}
	e, ok := Edit{}, false
	if len(script) == 1 && script[0].exact {
		e, ok = sedScript(script[0].text)
	}
	for _, w := range files {
		e.Path = s.path(w)
		if !ok {
			e = Edit{Kind: Unclear, Path: e.Path}
		}
		add(e)
	}
}

// sedScript reads a script of one command.
func sedScript(script string) (Edit, bool) {
	script = strings.TrimSpace(script)
	from, to, rest := sedAddress(script)
	if rest == "" {
		return Edit{}, false
	}
	switch c := rest[0]; c {
	case 'd':
		return Edit{From: from, To: to, Lines: true}, rest == "d" && from > 0
	case 'i', 'a':
		text := strings.TrimPrefix(rest[1:], `\`)
		text = strings.TrimPrefix(text, "\n")
		if rest[1:] == text { // the form of one line drops blanks before the text
			text = strings.TrimLeft(text, " \t")
		}
		e := Edit{Kind: Insert, From: from, New: text + "\n", Lines: true}
		if c == 'i' {
			e.From--
		}
		return e, from > 0 && to == from && text != "" && !strings.ContainsAny(text, "\\\n")
	case 's':
		old, now, flags, ok := sedParts(rest[1:])
		e := Edit{Old: old, New: now, From: from, To: to, All: flags == "g", PerLine: true}
		plain := old != "" && !strings.ContainsAny(old, `.[]*^$\`) && !strings.ContainsAny(now, "&\\\n")
		return e, ok && plain && (flags == "" || flags == "g")
	}
	return Edit{}, false
}

// sedAddress reads the lines in front of a command: 12 or 12,20.
func sedAddress(s string) (from, to int, rest string) {
	n := 0
	for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == ',') {
		n++
	}
	a, b, ranged := strings.Cut(s[:n], ",")
	from, _ = strconv.Atoi(a)
	to = from
	if ranged {
		to, _ = strconv.Atoi(b)
	}
	if n > 0 && (from == 0 || to < from) {
		return 0, 0, ""
	}
	return from, to, s[n:]
}

// sedParts splits /old/new/flags at its delimiter, whichever it is.
func sedParts(s string) (old, now, flags string, ok bool) {
	if s == "" || s[0] == '\\' || s[0] == '\n' {
		return "", "", "", false
	}
	d := s[0]
	var part [2]strings.Builder
	k := 0
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == d:
			i++
			part[k].WriteByte(d)
		case s[i] == '\\' && i+1 < len(s):
			part[k].WriteString(s[i : i+2])
			i++
		case s[i] == d:
			if k++; k == 2 {
				return part[0].String(), part[1].String(), strings.TrimSpace(s[i+1:]), true
			}
		default:
			part[k].WriteByte(s[i])
		}
	}
	return "", "", "", false
}
