package viewer

import (
	"context"
	"regexp"
	"sync"
	"time"

	"charm.land/bubbles/v2/spinner"
	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/session"
)

// Options say how a session is shown. The zero value works.
type Options struct {
	// Title names the session for people; by default its name or id.
	Title string

	// Note is said beside the title, for example that changes are not kept.
	Note string

	// Hello is said at the screen's bottom until the first key.
	Hello string

	// File is the file that actions write to; they say so. It is "" for a session
	// that was not opened by its file.
	File string

	// Now is the clock; nil is the real one.
	Now func() time.Time
}

// The panes, in the order in which they stand.
const (
	paneTree = iota
	paneView
	paneHistory
	panes
)

// Model is the state of the viewer. It is a bubbletea model.
type Model struct {
	s *session.Session
	o Options

	ctx  context.Context // of everything that is started
	stop context.CancelFunc
	jobs sync.RWMutex // read-locked by commands that use the session

	width, height int
	focus         int
	talk          int // the pane of text that was used last

	sn     *snapshot
	status *budget.Status

	tree  treePane
	texts [panes]viewport.Model // of the two panes with text
	drawn drawn                 // what they show

	keys  []group
	help  *viewport.Model
	input *input
	ask   *question
	busy  *job
	spin  spinner.Model
	still bool // it never moves, because no one watches

	find    *regexp.Regexp // what is looked for
	words   string         // the same, as it was typed
	message string         // for the person, until the next key
	wrong   bool           // the message tells of a failure
}

// job is something that takes time.
type job struct {
	what    string
	started time.Time
	cancel  context.CancelFunc
}

// question waits for one of some keys. Enter is y.
type question struct {
	text string
	keys string // what the keys do, for people
	do   map[string]func() tea.Cmd
}

// New returns a viewer of a session. The session stays the caller's to close,
// after [Model.Stop].
func New(ctx context.Context, s *session.Session, o Options) *Model {
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &Model{s: s, o: o, width: 80, height: 24, talk: paneView, message: o.Hello}
	m.ctx, m.stop = context.WithCancel(ctx)
	m.texts[paneView], m.texts[paneHistory] = viewport.New(), viewport.New()
	m.tree.s = s
	m.keys, m.spin = keyGroups(), spinner.New(spinner.WithSpinner(spinner.MiniDot))
	return m
}

// Stop calls off what is going on and waits until it is over, so that the
// session can be closed.
func (m *Model) Stop() {
	m.stop()
	m.jobs.Lock()
	defer m.jobs.Unlock()
}

// Run shows the viewer on the terminal until the person leaves or the context
// of New ends. The terminal is then as it was. Signals are the caller's to turn
// into the end of that context, so that there is one way out.
func Run(m *Model, o ...tea.ProgramOption) error {
	defer m.Stop()
	p := tea.NewProgram(m, append(o, tea.WithoutSignalHandler())...)
	// Not tea.WithContext: it closes the terminal while it is still being read.
	defer context.AfterFunc(m.ctx, p.Quit)()
	_, err := p.Run()
	if m.ctx.Err() != nil {
		return nil
	}
	return err
}

// Messages to the model.
type (
	loadedMsg struct {
		sn  *snapshot
		err error
		to  string // the entry to go to, or ""
		cut bool   // it was compacted: its fold is shown
	}
	measuredMsg struct {
		status budget.Status
		err    error
	}
	doneMsg struct {
		text string
		err  error
		to   string
		cut  bool
	}
	foundMsg struct {
		at      int // the row of the tree, or -1
		find    *regexp.Regexp
		nth, of int // which of how many places
		wrapped bool
	}
)

// Init reads the session.
func (m *Model) Init() tea.Cmd {
	last := "" // start at the leaf
	if m.s != nil {
		last = m.s.Leaf()
	}
	return m.loadSnapshot(last, false)
}

// runInBackground makes a command of something that uses the session. It is waited
// for before the session is closed.
func (m *Model) runInBackground(f func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		m.jobs.RLock()
		defer m.jobs.RUnlock()
		if m.ctx.Err() != nil {
			return nil
		}
		return f(m.ctx)
	}
}

func (m *Model) loadSnapshot(to string, cut bool) tea.Cmd {
	return m.runInBackground(func(context.Context) tea.Msg {
		sn, err := takeSnapshot(m.s)
		return loadedMsg{sn, err, to, cut}
	})
}

func (m *Model) measureContext() tea.Cmd {
	return m.runInBackground(func(context.Context) tea.Msg {
		_, st, err := m.s.NeedsCompaction()
		return measuredMsg{st, err}
	})
}

// Update takes a message in.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		cmd = m.handleKey(msg)
	case tea.PasteMsg:
		if m.input != nil {
			m.input.take(msg)
		}
	case loadedMsg:
		cmd = m.handleLoaded(msg)
	case measuredMsg:
		if msg.err != nil {
			m.showError(msg.err)
		} else {
			m.status = &msg.status
		}
	case doneMsg:
		cmd = m.handleDone(msg)
	case foundMsg:
		m.handleFound(msg)
	case spinner.TickMsg:
		if m.busy != nil {
			m.spin, cmd = m.spin.Update(msg)
		}
	}
	m.layOutPanes()
	return m, cmd
}

func (m *Model) handleLoaded(msg loadedMsg) tea.Cmd {
	if msg.err != nil {
		m.showError(msg.err)
		return nil
	}
	begun := m.sn != nil
	m.sn = msg.sn
	m.tree.reset(m.sn)
	if k, ok := m.sn.byID[msg.to]; (!begun || msg.cut) && m.showFold() {
		// Nobody asked for anything else.
	} else if ok {
		m.tree.choose(int(m.tree.f.at[k]))
	}
	return m.measureContext()
}

// startJob begins a job that changes the session.
func (m *Model) startJob(what string, f func(ctx context.Context) doneMsg) tea.Cmd {
	if m.busy != nil {
		return m.refuse("wait: %s is in progress; esc cancels it", m.busy.what)
	}
	ctx, cancel := context.WithCancel(m.ctx)
	m.busy = &job{what: what, started: m.o.Now(), cancel: cancel}
	run := m.runInBackground(func(context.Context) tea.Msg {
		defer cancel()
		msg := f(ctx)
		if msg.err != nil && ctx.Err() != nil {
			return doneMsg{text: "cancelled; nothing was changed"}
		}
		return msg
	})
	if m.still {
		return run
	}
	return tea.Batch(run, m.spin.Tick)
}

func (m *Model) handleDone(msg doneMsg) tea.Cmd {
	m.busy = nil
	m.message, m.wrong = msg.text, false
	switch {
	case msg.err != nil:
		m.showError(msg.err)
	case m.o.File != "" && msg.text != "":
		m.message += " · written to " + m.o.File
	}
	return m.loadSnapshot(msg.to, msg.cut) // also after a failure: what stands on the disk counts
}
