// Package viewer shows a session on the whole terminal: the tree of its entries, and
// the entry at its cursor as the model sees it and as it was.
//
// [New] makes a [Model] of an open session, which [Run] shows until the person
// leaves. Everything the person does goes through the session: pin, compact
// with a focus, take a compaction back, move the leaf, label. What a transcript
// of another program holds is put into a store in memory first
// ([session.NewMemory]), so that it can be tried without being kept.
//
// The model is pure: it changes by messages alone and everything that takes time
// is a command. So it runs without a terminal too, as the tests do.
//
// Long sessions stay fluid because only what is on the screen is looked at. The
// tree is listed by places, which hold no text; entries beside the path are read as
// they come on the screen. Of a message of megabytes the beginning is shown.
// Nothing that a transcript holds reaches the terminal before it was cleaned of
// escape sequences, controls and characters that change the order of others.
package viewer

import (
	"cmp"
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
}

// The panes, in the order in which they stand. The help is shown in place of them.
const (
	paneTree = iota
	paneView
	paneHistory
	paneHelp

	panes = paneHelp
)

// Model is the state of the viewer. It is a bubbletea model.
type Model struct {
	s *session.Session
	o Options

	ctx  context.Context // of everything that is started
	stop context.CancelFunc
	jobs sync.RWMutex // read-locked by commands that use the session

	width, height int
	focus         int  // the pane that keys are for
	talk          int  // the pane of text that was used last
	help          bool // the help is shown

	sn     *snapshot
	status *budget.Status

	cursor, top int                    // rows of the tree
	said        map[string]said        // what they say, by entry; that of messages on the path is at hand
	texts       [paneHelp + 1]textPane // the tree has none
	drawn       drawn                  // what they show

	input *input
	ask   *question
	busy  *job
	spin  spinner.Model

	find    *regexp.Regexp // what is looked for
	words   string         // the same, as it was typed
	message string         // for the person, until the next key
	wrong   bool           // the message tells of a failure
}

// textPane is a text, and the lines that it was broken into.
type textPane struct {
	viewport.Model
	lines []line
}

// job is something that takes time.
type job struct {
	what    string
	started time.Time
	cancel  context.CancelFunc
}

// New returns a viewer of a session. The session stays the caller's to close,
// after [Model.Stop].
func New(ctx context.Context, s *session.Session, o Options) *Model {
	m := &Model{s: s, o: o, width: 80, height: 24, talk: paneView, message: o.Hello, spin: spinner.New(spinner.WithSpinner(spinner.MiniDot))}
	m.ctx, m.stop = context.WithCancel(ctx)
	for i := range m.texts {
		m.texts[i].Model = viewport.New()
	}
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
	// loadedMsg is the session as it stands, after a job or at the start.
	loadedMsg struct {
		done
		sn      *snapshot
		readErr error
	}

	// learned is what else a command found out: it changes the model.
	learned func()
)

// done is what a job did.
type done struct {
	text string
	err  error
	to   string // the entry to go to, or ""
	cut  bool   // it was compacted: its fold is shown
}

// Init reads the session, and starts at its leaf.
func (m *Model) Init() tea.Cmd {
	return m.runInBackground(func(context.Context) tea.Msg { return m.loadSnapshot(done{to: m.s.Leaf()}) })
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

func (m *Model) loadSnapshot(after done) tea.Msg {
	sn, err := takeSnapshot(m.s)
	return loadedMsg{after, sn, err}
}

// startJob begins a job that changes the session. The session is read again after it,
// also after a failure: what stands on the disk counts.
func (m *Model) startJob(what string, f func(ctx context.Context) done) tea.Cmd {
	if m.isBusy() {
		return nil
	}
	ctx, cancel := context.WithCancel(m.ctx)
	m.busy = &job{what: what, started: time.Now(), cancel: cancel}
	return tea.Batch(m.spin.Tick, m.runInBackground(func(context.Context) tea.Msg {
		defer cancel()
		did := f(ctx)
		if did.err != nil && ctx.Err() != nil {
			did = done{text: "cancelled; nothing was changed"}
		}
		return m.loadSnapshot(did)
	}))
}

// isBusy reports whether a job is under way, and says so.
func (m *Model) isBusy() bool {
	if m.busy != nil {
		m.refuse("wait: %s is in progress; esc cancels it", m.busy.what)
	}
	return m.busy != nil
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
	case learned:
		msg()
	case spinner.TickMsg:
		if m.busy != nil {
			m.spin, cmd = m.spin.Update(msg)
		}
	}
	m.layOutPanes()
	return m, cmd
}

func (m *Model) handleLoaded(msg loadedMsg) tea.Cmd {
	begun := m.sn != nil
	if m.busy != nil {
		m.busy, m.message, m.wrong = nil, msg.text, false
		if m.o.File != "" && msg.text != "" {
			m.message += " · written to " + m.o.File
		}
	}
	if err := cmp.Or(msg.err, msg.readErr); err != nil {
		m.showError(err)
	}
	if msg.readErr != nil {
		return nil
	}
	at := msg.to
	if place, _, _ := m.selectedItem(); at == "" && place >= 0 {
		at = m.sn.places[place].ID
	}
	m.sn, m.said = msg.sn, make(map[string]said)
	if begun && !msg.cut || !m.showFold() {
		m.choose(m.sn.rowOf(m.sn.findPlace(at)))
	}
	return m.runInBackground(func(context.Context) tea.Msg {
		_, st, err := m.s.NeedsCompaction()
		return learned(func() {
			if err != nil {
				m.showError(err)
				return
			}
			m.status = &st
		})
	})
}
