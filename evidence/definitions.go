package evidence

import "regexp"

// definition is a line that defines something: a word that does so, behind a line's
// number and words such as public, and the name that follows it or its receiver.
var definition = regexp.MustCompile(`^\s*(?:\d+[\t:| -]\s*|\d+→\s*)?(?:(?:export|public|private|protected|internal|static|async|abstract|final|pub(?:\([a-z]+\))?|default|declare|unsafe|virtual|override|sealed|partial|open|data|inline|extern) )*` +
	`(?:fn|def|fun|func|type|enum|class|const|trait|macro|struct|module|record|function|interface|namespace) +(?:\([^)]*\) *)?([A-Za-z_][\w:]{2,59})\b`)

// Defined returns the name that a line of source code defines, "" where it
// defines none.
func Defined(line string) string {
	if found := definition.FindStringSubmatch(line); found != nil {
		return found[1]
	}
	return ""
}
