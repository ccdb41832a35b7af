package console

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/winnow-llm/winnow/internal/app/termsafe"
)

// What the console tells its program.
type (
	status     string
	unfinished string // the line of output that is not complete yet
	hidden     bool   // whether the program's rows are shown
	cleared    struct{}
	closed     struct{}
	nothing    struct{}
	over       struct{ q *question }
)

// question waits for its answer.
type question struct {
	prompt string
	area   textarea.Model
	answer chan string
}

// model is the rows below the output: its unfinished line, the status and the line
// that is typed, or a question in its place.
type model struct {
	c *Console
	o Options

	area    textarea.Model
	ask     *question
	pastes  map[string]string // by what is shown for them
	history []string
	at      int    // in history; len(history) is the line that is typed
	draft   string // the line that is typed while history is looked at
	struck  bool   // the last key was an interrupt

	status, unfinished string
	hidden             bool
	cols, rows         int
}

func newModel(c *Console, o Options) *model {
	m := &model{c: c, o: o, history: append([]string(nil), o.History...), pastes: map[string]string{}, cols: 80, rows: 24}
	m.at = len(m.history)
	m.area = m.newArea(o.Prompt)
	return m
}

// newArea returns a text area without any looks of its own.
func (m *model) newArea(prompt string) textarea.Model {
	a := textarea.New()
	a.SetStyles(textarea.Styles{})
	a.SetVirtualCursor(false)
	a.ShowLineNumbers, a.DynamicHeight, a.MaxWidth, a.MaxContentHeight = false, true, 0, 10_000
	a.KeyMap.InsertNewline.SetKeys("ctrl+j", "alt+enter", "shift+enter")
	a.KeyMap.Paste.SetEnabled(false) // terminals paste by themselves
	a.SetPromptFunc(ansi.StringWidth(prompt), func(p textarea.PromptInfo) string {
		if p.LineNumber == 0 {
			return prompt
		}
		return ""
	})
	a.Focus()
	m.sizeArea(&a)
	return a
}

func (m *model) sizeArea(a *textarea.Model) {
	a.MaxHeight = max(1, min(10, m.rows/2-1))
	a.SetWidth(m.cols)
}

// Init implements [tea.Model].
func (m *model) Init() tea.Cmd { return nil }

// Update implements [tea.Model].
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.cols, m.rows = max(msg.Width, 4), max(msg.Height, 2)
		m.sizeArea(&m.area)
		if m.ask != nil {
			m.sizeArea(&m.ask.area)
		}
		go m.c.setSize(tea.WindowSizeMsg{Width: m.cols, Height: m.rows}) // who holds the lock may wait for this
	case status:
		m.status = string(msg)
	case unfinished:
		m.unfinished = string(msg)
	case hidden:
		m.hidden = bool(msg)
	case cleared:
		m.setLine("")
		m.at = len(m.history)
	case closed:
		m.hidden = true
		return m, tea.Quit
	case *question:
		msg.area = m.newArea(ansi.Truncate(msg.prompt, max(m.cols-8, 1), "…"))
		m.ask = msg
	case over:
		if m.ask == msg.q {
			m.ask = nil
		}
	case tea.PasteMsg:
		m.struck = false
		m.insertText(strings.Map(printable, msg.Content)) // a question is answered by typing: the paste waits behind it
	case tea.KeyPressMsg:
		return m, m.handleKey(msg)
	}
	return m, nil
}

// handleKey acts on a key.
func (m *model) handleKey(k tea.KeyPressMsg) tea.Cmd {
	again := m.struck
	m.struck = k.String() == "ctrl+c"
	area := &m.area
	if m.ask != nil {
		area = &m.ask.area
	}
	switch k.String() {
	case "ctrl+c":
		m.c.sendEvent(Event{Kind: Interrupt, Again: again})
		return nil
	case "ctrl+z":
		go m.c.suspend() // it waits for the program, which this is
		return nil
	case "ctrl+l":
		return tea.Sequence(tea.Raw(ansi.EraseEntireScreen+ansi.CursorHomePosition), tea.ClearScreen)
	case "tab":
		return m.completeLine()
	case "ctrl+d":
		if m.ask != nil {
			m.sendReply("")
			return nil
		}
		if area.Length() == 0 {
			m.c.sendEvent(Event{Kind: EOF})
			return nil
		}
	case "enter":
		return m.enterLine()
	case "up":
		if m.ask == nil && area.Line() == 0 && area.LineInfo().RowOffset == 0 {
			m.recallLine(-1)
			return nil
		}
	case "down":
		if info := area.LineInfo(); m.ask == nil && area.Line() == area.LineCount()-1 && info.RowOffset == info.Height-1 {
			m.recallLine(1)
			return nil
		}
	}
	var cmd tea.Cmd
	*area, cmd = area.Update(k)
	return cmd
}

// sendReply hands on the answer to a question.
func (m *model) sendReply(text string) {
	m.ask.answer <- text
	m.ask = nil
}

// enterLine takes the line, or starts a new one behind a backslash.
func (m *model) enterLine() tea.Cmd {
	if m.ask != nil {
		m.sendReply(m.ask.area.Value())
		return nil
	}
	text := m.area.Value()
	if rest, ok := strings.CutSuffix(text, `\`); ok {
		m.area.SetValue(rest + "\n")
		return nil
	}
	for label, pasted := range m.pastes {
		text = strings.Replace(text, label, pasted, 1)
	}
	m.rememberLine(text)
	m.setLine("")
	m.c.sendEvent(Event{Kind: Line, Text: text})
	return nil
}

// maxHistory is how many lines are remembered.
const maxHistory = 500

// rememberLine makes a line one that can be gone back to.
func (m *model) rememberLine(line string) {
	if strings.TrimSpace(line) != "" && (len(m.history) == 0 || m.history[len(m.history)-1] != line) {
		m.history = append(m.history, line)
		m.history = m.history[max(0, len(m.history)-maxHistory):]
	}
	m.at, m.draft = len(m.history), ""
}

// recallLine goes back in history, or forward.
func (m *model) recallLine(by int) {
	if m.at+by < 0 || m.at+by > len(m.history) {
		return
	}
	if m.at == len(m.history) {
		m.draft = m.area.Value()
	}
	if m.at += by; m.at == len(m.history) {
		m.area.SetValue(m.draft)
		return
	}
	m.setLine(m.history[m.at])
}

// setLine makes a text the line.
func (m *model) setLine(text string) {
	m.area.Reset()
	m.pastes = map[string]string{}
	m.insertText(text)
}

// A paste that is longer than this is shown by its size.
const (
	shownBytes = 2000
	shownLines = 20
)

// insertText puts a text into the line. One that is long, or that the text area would
// change, is shown by its size and stands there again when the line is entered.
func (m *model) insertText(text string) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	lines := strings.Count(text, "\n") + 1
	odd := func(r rune) bool { return r == '\t' || termsafe.Hidden(r) }
	if len(text) <= shownBytes && lines <= shownLines && !strings.ContainsFunc(text, odd) {
		m.area.InsertString(text)
		return
	}
	label := fmt.Sprintf("[pasted: %d lines, %d bytes]", lines, len(text))
	for n := 2; m.pastes[label] != "" && m.pastes[label] != text; n++ {
		label = fmt.Sprintf("[pasted %d: %d lines, %d bytes]", n, lines, len(text))
	}
	m.pastes[label] = text
	m.area.InsertString(label)
}

// printable drops what steers terminals, but for ends of lines and tabs.
func printable(r rune) rune {
	if r < ' ' && r != '\n' && r != '\r' && r != '\t' || r >= 0x7f && r < 0xa0 {
		return -1
	}
	return r
}

// completeLine extends the line where there is one way to.
func (m *model) completeLine() tea.Cmd {
	text := m.area.Value()
	if m.o.Complete == nil || m.ask != nil {
		return nil
	}
	list := m.o.Complete(text)
	if len(list) == 0 {
		return nil
	}
	common := list[0]
	for _, s := range list[1:] {
		for !strings.HasPrefix(s, common) {
			common = common[:len(common)-1]
		}
	}
	if len(common) > len(text) {
		m.area.SetValue(common)
	} else if len(list) > 1 {
		return tea.Println(strings.Join(list, "  "))
	}
	return nil
}

// View implements [tea.Model].
func (m *model) View() tea.View {
	var v tea.View
	if m.hidden {
		return v
	}
	var rows []string
	if m.unfinished != "" {
		rows = append(rows, m.unfinished)
	}
	if m.status != "" && m.rows > 2 {
		rows = append(rows, ansi.Truncate(m.status, m.cols, "…"))
	}
	area := &m.area
	if m.ask != nil {
		area = &m.ask.area
	}
	v.SetContent(strings.Join(append(rows, area.View()), "\n"))
	if v.Cursor = area.Cursor(); v.Cursor != nil {
		v.Cursor.Y += len(rows)
	}
	return v
}
