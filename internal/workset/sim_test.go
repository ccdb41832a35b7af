package workset

import (
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow/chat"
)

// world is a folder of files and an agent that works on them: it does what a
// real tool does, and renders the call and its result as that tool does.
type world struct {
	files map[string]string
	msgs  []chat.Message
	calls int
}

func (w *world) lines(p string) []string {
	text := w.files[p]
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// call adds a call and its result.
func (w *world) call(name, args, result string) {
	w.calls++
	id := fmt.Sprintf("c%d", w.calls)
	w.msgs = append(w.msgs, chat.CallMessage("", chat.Call(id, name, args)), chat.ResultMessage(id, result))
}

func object(pairs ...any) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:", pairs[i])
		switch v := pairs[i+1].(type) {
		case string:
			b.WriteString(quoted(v))
		default:
			fmt.Fprint(&b, v)
		}
	}
	b.WriteByte('}')
	return b.String()
}

// dialect is one agent's way to read and to change files.
type dialect struct {
	name  string
	read  func(w *world, p string, from, n int) // n lines from a line on; 0, 0 is all
	edit  func(w *world, p, old, now string, all bool)
	write func(w *world, p, text string)
	shell func(w *world, command, out string, code int)
}

var dialects = []dialect{
	{"claude", claudeRead(true), claudeEdit, claudeWrite, claudeShell},
	{"claude without the empty line", claudeRead(false), claudeEditSnippet, claudeWrite, claudeShell},
	{"codex", codexRead, patchEdit, patchWrite, codexShell},
	{"opencode", opencodeRead, opencodeEdit, opencodeWrite, rawShell},
	{"pi", piRead, piEdit, piWrite, rawShell},
	{"openhands", handsRead, handsEdit, handsWrite, handsShell},
	{"bash", bashRead, nil, bashWrite, miniShell},
}

// replace does what every string replacement does: the old text must stand once.
func (w *world) replace(p, old, now string, all bool) bool {
	n := strings.Count(w.files[p], old)
	if n == 0 || n > 1 && !all {
		return false
	}
	w.files[p] = strings.ReplaceAll(w.files[p], old, now)
	return true
}

func number(sep string, from int, lines []string) string {
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%6d%s%s", from+i, sep, l)
	}
	return b.String()
}

func window(all []string, from, n int) []string {
	if from == 0 {
		return all
	}
	a := min(from-1, len(all))
	return all[a:min(a+n, len(all))]
}

func claudeRead(phantom bool) func(*world, string, int, int) {
	return func(w *world, p string, from, n int) {
		all := w.lines(p)
		if phantom {
			all = strings.Split(w.files[p], "\n")
		}
		args := object("file_path", p)
		if from > 0 {
			args = object("file_path", p, "offset", from, "limit", n)
		}
		part := window(all, from, n)
		result := number("→", max(from, 1), part)
		if w.files[p] == "" || len(part) == 0 {
			result = "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>"
		} else if w.calls%2 == 0 {
			result += "\n\n<system-reminder>\nWhenever you read a file, think.\n</system-reminder>\n"
		}
		w.call("Read", args, result)
	}
}

func (w *world) claudeReplace(p, old, now string, all bool) bool {
	if now == "" && !strings.HasSuffix(old, "\n") && strings.Contains(w.files[p], old+"\n") {
		if n := strings.Count(w.files[p], old); n > 1 && !all {
			return false
		}
		w.files[p] = strings.ReplaceAll(w.files[p], old+"\n", "")
		return true
	}
	return w.replace(p, old, now, all)
}

func claudeEdit(w *world, p, old, now string, all bool) {
	args := object("file_path", p, "old_string", old, "new_string", now, "replace_all", all)
	if !w.claudeReplace(p, old, now, all) {
		w.call("Edit", args, "<tool_use_error>Found several matches of the string to replace.</tool_use_error>")
		return
	}
	w.call("Edit", args, "The file "+p+" has been updated successfully.")
}

func claudeEditSnippet(w *world, p, old, now string, all bool) {
	args := object("file_path", p, "old_string", old, "new_string", now, "replace_all", all)
	at := strings.Count(w.files[p][:max(strings.Index(w.files[p], old), 0)], "\n")
	if !w.claudeReplace(p, old, now, all) {
		w.call("Edit", args, "<tool_use_error>String to replace not found in file.</tool_use_error>")
		return
	}
	from := max(at-3, 1)
	part := window(w.lines(p), from, 8)
	w.call("Edit", args, "The file "+p+" has been updated. Here's the result of running `cat -n` on a snippet of the edited file:\n"+number("→", from, part))
}

func claudeWrite(w *world, p, text string) {
	w.files[p] = text
	w.call("Write", object("file_path", p, "content", text), "File created successfully at: "+p)
}

// claudeShell trims what a command prints.
func claudeShell(w *world, command, out string, code int) {
	out = strings.TrimRight(out, "\n ")
	if code != 0 {
		out = fmt.Sprintf("Exit code %d\n%s", code, out)
	}
	w.call("Bash", object("command", "cd /w && "+command), out)
}

func codexShell(w *world, command, out string, code int) {
	w.call("exec_command", object("cmd", command, "workdir", "/w"),
		fmt.Sprintf("Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code %d\nOriginal token count: 9\nOutput:\n%s", code, out))
}

func miniShell(w *world, command, out string, code int) {
	w.call("bash", object("command", "cd /w && "+command), fmt.Sprintf("<returncode>%d</returncode>\n<output>\n%s</output>", code, out))
}

func rawShell(w *world, command, out string, code int) {
	if code != 0 {
		out += fmt.Sprintf("\n\nCommand exited with code %d", code)
	}
	w.call("bash", object("command", "cd /w && "+command), out)
}

func handsShell(w *world, command, out string, code int) {
	w.call("execute_bash", object("command", "cd /w && "+command), out+fmt.Sprintf("\n[The command completed with exit code %d.]\n[Current working directory: /w]", code))
}

func codexRead(w *world, p string, from, n int) {
	all := w.lines(p)
	command := "cat " + p
	switch {
	case from > 0 && w.calls%3 == 0:
		command = fmt.Sprintf("nl -ba %s | sed -n '%d,%dp'", p, from, from+n-1)
		codexShell(w, command, ended(number("\t", from, window(all, from, n))), 0)
		return
	case from > 0:
		command = fmt.Sprintf("sed -n '%d,%dp' %s", from, from+n-1, p)
	}
	codexShell(w, command, printed(w.files[p], window(all, from, n), from+n > len(all) || from == 0), 0)
}

// printed is what a program prints of a file's lines: the last one without a
// newline where the file has none.
func printed(text string, lines []string, last bool) string {
	if len(lines) == 0 {
		return ""
	}
	out := strings.Join(lines, "\n")
	if !last || strings.HasSuffix(text, "\n") {
		out += "\n"
	}
	return out
}

func ended(s string) string {
	if s == "" {
		return s
	}
	return s + "\n"
}

func bashRead(w *world, p string, from, n int) {
	all := w.lines(p)
	command := "cat -n " + p
	if from > 0 {
		command = fmt.Sprintf("tail -n +%d %s | head -n %d", from, p, n)
		miniShell(w, command, printed(w.files[p], window(all, from, n), from+n > len(all)), 0)
		return
	}
	miniShell(w, command, ended(number("\t", 1, all)), 0)
}

func bashWrite(w *world, p, text string) {
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	w.files[p] = text
	miniShell(w, "cat > "+p+" <<'EOF'\n"+text+"EOF", "", 0)
}

func patchWrite(w *world, p, text string) {
	w.files[p] = ended(strings.TrimSuffix(text, "\n"))
	if text == "\n" {
		w.files[p] = "\n"
	}
	var b strings.Builder
	for _, l := range w.lines(p) {
		b.WriteString("+" + l + "\n")
	}
	w.call("apply_patch", object("input", "*** Begin Patch\n*** Add File: "+p+"\n"+b.String()+"*** End Patch"), "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nA "+p+"\n")
}

// patchEdit turns the replacement of a text into a hunk of whole lines, and puts
// it where the tool would: at the first place that fits.
func patchEdit(w *world, p, old, now string, _ bool) {
	before := w.files[p]
	at := strings.Index(before, old)
	if at < 0 || !strings.HasSuffix(before, "\n") {
		return
	}
	after := before[:at] + now + before[at+len(old):]
	a, b := strings.Split(strings.TrimSuffix(before, "\n"), "\n"), strings.Split(strings.TrimSuffix(after, "\n"), "\n")
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	from := max(head-w.calls%3, 0)
	to := min(len(a)-tail+w.calls%2, len(a))
	var hunk strings.Builder
	hunk.WriteString("@@\n")
	for _, l := range a[from:head] {
		hunk.WriteString(" " + l + "\n")
	}
	for _, l := range a[head : len(a)-tail] {
		hunk.WriteString("-" + l + "\n")
	}
	for _, l := range b[head : len(b)-tail] {
		hunk.WriteString("+" + l + "\n")
	}
	for _, l := range a[len(a)-tail : to] {
		hunk.WriteString(" " + l + "\n")
	}
	gone, come := a[from:to], append(append(append([]string(nil), a[from:head]...), b[head:len(b)-tail]...), a[len(a)-tail:to]...)
	text := strings.Join(gone, "\n") + "\n"
	if len(gone) == 0 || strings.Count("\n"+before, "\n"+text) > 1 || strings.Count(before, text) > 1 {
		return // agents write hunks that fit in one place
	}
	for i := 0; i+len(gone) <= len(a); i++ {
		if strings.Join(a[i:i+len(gone)], "\n") == strings.Join(gone, "\n") {
			result := append(append(append([]string(nil), a[:i]...), come...), a[i+len(gone):]...)
			w.files[p] = ended(strings.Join(result, "\n"))
			if len(result) == 1 && result[0] == "" {
				w.files[p] = "\n"
			}
			break
		}
	}
	w.call("apply_patch", object("input", "*** Begin Patch\n*** Update File: "+p+"\n"+hunk.String()+"*** End Patch"), "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nM "+p+"\n")
}

func opencodeRead(w *world, p string, from, n int) {
	all := w.lines(p)
	part := window(all, from, n)
	args := object("filePath", p)
	if from > 0 {
		args = object("filePath", p, "offset", from, "limit", n)
	}
	var b strings.Builder
	b.WriteString("<path>" + p + "</path>\n<type>file</type>\n<content>\n")
	for i, l := range part {
		fmt.Fprintf(&b, "%d: %s\n", max(from, 1)+i, l)
	}
	last := max(from, 1) + len(part) - 1
	if last < len(all) {
		fmt.Fprintf(&b, "\n(Showing lines %d-%d of %d. Use offset=%d to continue.)\n</content>", max(from, 1), last, len(all), last+1)
	} else {
		fmt.Fprintf(&b, "\n(End of file - total %d lines)\n</content>", len(all))
	}
	w.call("read", args, b.String())
}

func opencodeEdit(w *world, p, old, now string, all bool) {
	args := object("filePath", p, "oldString", old, "newString", now, "replaceAll", all)
	if !w.replace(p, old, now, all) {
		w.call("edit", args, "Error: Found multiple matches for oldString.")
		return
	}
	w.call("edit", args, "Edit applied successfully.")
}

func opencodeWrite(w *world, p, text string) {
	w.files[p] = text
	w.call("write", object("filePath", p, "content", text), "Wrote file successfully.")
}

func piRead(w *world, p string, from, n int) {
	all := strings.Split(w.files[p], "\n")
	part := window(all, from, n)
	args := object("path", p)
	out := strings.Join(part, "\n")
	if from > 0 {
		args = object("path", p, "offset", from, "limit", n)
		if left := len(all) - (from - 1 + n); left > 0 {
			out += fmt.Sprintf("\n\n[%d more lines in file. Use offset=%d to continue.]", left, from+n)
		}
	}
	w.call("read", args, out)
}

func piEdit(w *world, p, old, now string, all bool) {
	args := object("path", p, "oldText", old, "newText", now)
	if all || !w.replace(p, old, now, false) {
		w.call("edit", args, "Could not find the exact text in "+p+". The old text must match exactly.")
		return
	}
	w.call("edit", args, "Successfully replaced text in "+p+".")
}

func piWrite(w *world, p, text string) {
	w.files[p] = text
	w.call("write", object("path", p, "content", text), fmt.Sprintf("Successfully wrote %d bytes to %s", len(text), p))
}

func handsRead(w *world, p string, from, n int) {
	all := w.lines(p)
	part := window(all, from, n)
	args := object("command", "view", "path", p)
	if from > 0 {
		args = `{"command":"view","path":` + quoted(p) + fmt.Sprintf(`,"view_range":[%d,%d]}`, from, from+n-1)
	}
	w.call("str_replace_editor", args, "Here's the result of running `cat -n` on "+p+":\n"+number("\t", max(from, 1), part)+"\n")
}

func handsEdit(w *world, p, old, now string, all bool) {
	args := object("command", "str_replace", "path", p, "old_str", old, "new_str", now)
	at := strings.Count(w.files[p][:max(strings.Index(w.files[p], old), 0)], "\n")
	if all || !w.replace(p, old, now, false) {
		w.call("str_replace_editor", args, "ERROR:\nNo replacement was performed. Multiple occurrences of old_str.")
		return
	}
	from := max(at-3, 1)
	// The snippet is followed by an empty line that carries a number too.
	part := append(append([]string(nil), window(w.lines(p), from, 8)...), "")
	w.call("str_replace_editor", args, "The file "+p+" has been edited. Here's the result of running `cat -n` on a snippet of "+p+":\n"+number("\t", from, part)+"\nReview the changes and make sure they are as expected.")
}

func handsWrite(w *world, p, text string) {
	w.files[p] = text
	w.call("str_replace_editor", object("command", "create", "path", p, "file_text", text), "File created successfully at: "+p)
}
