package evidence

import "strings"

// patchOps finds the files a patch touches, in either of the two common forms:
// "*** Update File: path" sections, and unified diffs with ---/+++ headers.
func patchOps(patch string, f func(Op)) {
	add := func(o Op) {
		if o.Path != "" {
			f(o)
		}
	}
	from := ""
	for rest := patch; rest != ""; {
		var line string
		line, rest = cutLine(rest)
		if len(line) < 5 {
			continue
		}
		switch line[0] {
		case '*':
			switch {
			case strings.HasPrefix(line, "*** Update File: "):
				from = cleanPath(line[17:])
				add(Op{Kind: Edit, Path: from})
			case strings.HasPrefix(line, "*** Add File: "):
				add(Op{Kind: Write, Path: cleanPath(line[14:])})
			case strings.HasPrefix(line, "*** Delete File: "):
				add(Op{Kind: Delete, Path: cleanPath(line[17:])})
			case strings.HasPrefix(line, "*** Move to: "):
				if from != "" {
					add(Op{Kind: Delete, Path: from})
				}
				add(Op{Kind: Write, Path: cleanPath(line[13:])})
			}
		case '-':
			if !strings.HasPrefix(line, "--- ") || !strings.HasPrefix(rest, "+++ ") {
				continue
			}
			old := diffPath(line[4:])
			line, rest = cutLine(rest)
			now := diffPath(line[4:])
			switch {
			case now == "":
				add(Op{Kind: Delete, Path: old})
			case old == "":
				add(Op{Kind: Write, Path: now})
			default:
				if old != now {
					add(Op{Kind: Delete, Path: old})
				}
				add(Op{Kind: Edit, Path: now})
			}
		}
	}
}

// diffPath reads the path of a --- or +++ line, "" for /dev/null.
func diffPath(s string) string {
	if i := strings.IndexByte(s, '\t'); i >= 0 {
		s = s[:i]
	}
	s = cleanPath(s)
	if s == "/dev/null" {
		return ""
	}
	if len(s) > 2 && s[1] == '/' && (s[0] == 'a' || s[0] == 'b') {
		s = s[2:]
	}
	return s
}

func looksLikePatch(s string) bool {
	if len(s) < 8 {
		return false
	}
	return strings.HasPrefix(s, "*** Begin Patch") || strings.HasPrefix(s, "*** Update File: ") || strings.HasPrefix(s, "*** Add File: ") ||
		strings.HasPrefix(s, "diff --git ") || strings.HasPrefix(s, "--- ") && strings.Contains(s, "\n+++ ")
}

// cutLine returns the first line of s without its end, and the rest.
func cutLine(s string) (line, rest string) {
	i := strings.IndexByte(s, '\n')
	if i < 0 {
		return s, ""
	}
	rest = s[i+1:]
	if i > 0 && s[i-1] == '\r' {
		i--
	}
	return s[:i], rest
}

// cleanPath removes what stands around a path but is not part of it.
func cleanPath(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 1 && (s[0] == '"' || s[0] == '\'' || s[0] == '`') && s[len(s)-1] == s[0] {
		s = s[1 : len(s)-1]
	}
	s = strings.TrimPrefix(s, "file://")
	for strings.HasPrefix(s, "./") && len(s) > 2 {
		s = s[2:]
	}
	if len(s) > 1024 || strings.ContainsAny(s, "\n\x00") {
		return ""
	}
	return s
}
