package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/config"
	"github.com/winnow-llm/winnow/internal/app/loop"
	"github.com/winnow-llm/winnow/internal/app/loop/simmodel"
	"github.com/winnow-llm/winnow/internal/app/loop/tools"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/llm"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/stage"
	"github.com/winnow-llm/winnow/summary"
)

// loopHost gives a conversation its models, sessions and settings.
type loopHost struct {
	a        *app
	f        *loopFlags
	store    session.Store
	live     *config.Live
	registry *model.Registry
	writer   summary.Summarizer
	box      *tools.Box
	dir      string
	gap      time.Duration // between the pieces of a simulated answer

	session *session.Session       // once it is open
	ui      atomic.Pointer[loopUI] // which tells what happens beside the conversation

	mu   sync.Mutex
	spec string   // the model that answers
	ends []func() // of simulated models

	outputs string // the folder of whole outputs; "" while there is none
}

func (a *app) newLoopHost(ctx context.Context, f *loopFlags, tty bool) (*loopHost, error) {
	h := &loopHost{a: a, f: f, spec: f.model}
	if tty {
		h.gap = 15 * time.Millisecond
	}
	l, err := a.loadSettings()
	if err != nil {
		return nil, err
	}
	if h.registry, err = l.modelRegistry(); err != nil {
		return nil, err
	}
	if h.writer, err = a.newSummarizer(ctx, &l.File, h.registry); err != nil {
		return nil, err
	}
	if h.dir, err = os.Getwd(); err != nil {
		return nil, err
	}
	h.box, err = tools.New(tools.Options{Dir: h.dir, Limit: h.outputLimit, Remaining: h.remainingTokens, Recall: func(handle string) (string, error) {
		o, err := h.session.Recall(handle)
		if err != nil {
			return "", err
		}
		words, _ := show.OriginalText(&o)
		return words, nil
	}})
	if err != nil {
		return nil, err
	}
	files, required := a.settingsFiles()
	if !required && files[1] == "" { // it is read when it appears
		files[1] = filepath.Join(h.dir, config.ProjectFile)
	}
	h.live, err = config.Watch(config.Options{
		Files: slices.DeleteFunc(files, func(f string) bool { return f == "" }), Required: required,
		Environ: a.environ(), Trust: a.trustStore(), Flags: h.applyFlags, Problem: h.reportSettings,
	})
	if err != nil {
		return nil, err
	}
	h.store, _, err = a.openStore(f.store)
	return h, err
}

// applyFlags have the last word on the settings.
func (h *loopHost) applyFlags(f *config.File) {
	h.mu.Lock()
	spec := h.spec
	h.mu.Unlock()
	f.Model = cmp.Or(spec, f.Model)
	_ = setFlags(h.f.flags, f)                                                                     // they were checked
	if h.f.window == 0 && spec == simmodel.Name && (f.Window <= 0 || f.Window > simmodel.Window) { // more it does not take
		f.Window = simmodel.Window
	}
	if target := f.Settings.WithDefaults().Target; h.f.flags.Changed("compact-threshold") && target >= f.Threshold { // or nothing would last
		f.Target = 0.75 * f.Threshold
	}
	if h.f.disable {
		f.AutoCompact = new(false)
	}
}

// reportSettings reports settings that became wrong while the program runs.
func (h *loopHost) reportSettings(err error) {
	text := "the settings are valid again and in force"
	if err != nil {
		text = "the edited settings are not valid, so the previous ones stay in force: " + err.Error()
	}
	h.ui.Load().say(text)
}

func (h *loopHost) close() {
	_ = h.store.Close() // acknowledged entries are on the disk
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, end := range h.ends {
		end()
	}
}

// outputLimit returns the limit for the output of a tool: about an eighth of what is
// available, counted with four bytes a token, where that is less than the usual
// limit. A model calls several tools at once.
func (h *loopHost) outputLimit() stage.OutputLimit {
	set := h.live.Session("", "").Settings.WithDefaults()
	l := stage.OutputLimit{Bytes: set.ItemBytes, Lines: set.ItemLines, Keep: set.ItemKeep, Full: h.keepOutput}
	if l.Bytes <= 0 {
		l.Bytes = stage.OutputBytes
	}
	if m := h.live.Current().Memory; m != nil && !*m { // nothing is written
		l.Full = nil
	}
	if _, available, ok := h.measureFill(); ok && available > 0 {
		l.Bytes = max(1000, min(l.Bytes, available/2))
	}
	return l
}

// keepOutput keeps the whole output of a tool that is shown shortened, in a file
// that its owner alone can read, and returns where it is. Secrets go out of it
// where they go out of sessions.
func (h *loopHost) keepOutput(output string) (string, error) {
	redact := h.live.Session("", "").Redact
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.outputs == "" {
		dir, err := h.f.saveDir, error(nil)
		if dir != "" {
			err = os.MkdirAll(dir, 0o700)
		} else {
			dir, err = os.MkdirTemp("", "winnow-output-")
		}
		if err != nil {
			return "", err
		}
		h.outputs = dir
	}
	if redact {
		output, _ = (&session.Redactor{}).Text(output)
	}
	f, err := os.CreateTemp(h.outputs, "*.txt")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(output)
	return f.Name(), errors.Join(err, f.Close())
}

// remainingTokens returns the tokens that a tool's file may have a share of, a
// quarter of those left in the window, and that share.
func (h *loopHost) remainingTokens() (tokens int, share float64) {
	if share = h.live.Session("", "").Settings.WithDefaults().FileShare; share <= 0 {
		share = 1
	}
	if used, available, ok := h.measureFill(); ok {
		return max(0, available-used) / 4, share // a model calls several tools at once
	}
	return stage.OutputBytes / 4, share
}

// measureFill returns how many of the available tokens the session uses, where there is
// one.
func (h *loopHost) measureFill() (used, available int, ok bool) {
	if h.session == nil {
		return 0, 0, false
	}
	_, st, err := h.session.NeedsCompaction()
	return st.Count.Tokens, st.Limits.Available, err == nil
}

// startSession opens the session that the flags choose, or makes one.
func (h *loopHost) startSession(ctx context.Context) (*session.Session, error) {
	switch {
	case h.f.session != "":
		return h.resumeSession(ctx, h.f.session)
	case h.f.resume:
		all, err := h.store.List(ctx, 0, 0)
		if err != nil {
			return nil, err
		}
		for _, in := range all {
			if in.Dir == h.dir {
				return h.resumeSession(ctx, in.ID)
			}
		}
		return nil, usageErrorf("there is no session of this folder to continue; leave --continue out to start one")
	}
	return h.createSession(ctx)
}

// leaveSession closes the session. One that was begun here and in which nothing was said
// is not kept. It reports whether there are messages in it.
func (h *loopHost) leaveSession() bool {
	_ = h.session.Close() // everything acknowledged is on the disk
	c, err := h.session.Context()
	if err == nil && c.Request.History.Len() > 0 {
		return true
	}
	if h.f.session == "" && !h.f.resume {
		_ = h.store.Delete(context.Background(), h.session.ID()) // it stays then, and does no harm
	}
	return false
}

// customLoop is the entry in which a session keeps its own system prompt.
const customLoop = "winnow.loop"

type loopNote struct {
	System string `json:"system,omitempty"`
}

func (h *loopHost) sessionOptions() *session.Options {
	set := h.live.Current()
	o := &session.Options{
		Live: h.live.Session, Registry: h.registry, Kinds: set.Kinds(), Summarizer: h.writer, Tools: h.box.Defs(), System: systemPrompt(h.box),
		Output: h.f.maxTokens, Manual: h.f.disable,
		Hooks: []session.Hooks{{Failed: func(f session.HookFailure) {
			h.ui.Load().say(fmt.Sprintf("the hook %s on %s failed and is ignored: %v", f.Hook, f.Event, f.Err))
		}}},
	}
	if h.f.system != "" {
		o.System = []chat.Part{{Kind: chat.Text, Text: h.f.system}}
	}
	return o
}

// createSession makes a session of this folder.
func (h *loopHost) createSession(ctx context.Context) (*session.Session, error) {
	s, err := session.Create(ctx, h.store, session.Header{Dir: h.dir}, h.sessionOptions())
	if err != nil || h.f.system == "" {
		return s, err
	}
	if _, err := s.Custom(ctx, customLoop, loopNote{h.f.system}); err != nil {
		_ = s.Close() // the first error is the one to tell
		return nil, err
	}
	return s, nil
}

// resumeSession opens a session, with the system prompt that it was begun with.
func (h *loopHost) resumeSession(ctx context.Context, name string) (*session.Session, error) {
	id, err := findSession(ctx, h.store, name)
	if err != nil {
		return nil, usageErrorf("%v", err)
	}
	o := h.sessionOptions()
	s, err := session.Open(ctx, h.store, id, o)
	if err != nil || h.f.system != "" {
		return s, err
	}
	for _, e := range s.Path() {
		var n loopNote
		if e.Custom != customLoop || json.Unmarshal(e.Data, &n) != nil || n.System == "" {
			continue
		}
		if err := s.Close(); err != nil {
			return nil, err
		}
		o.System = []chat.Part{{Kind: chat.Text, Text: n.System}}
		return session.Open(ctx, h.store, id, o)
	}
	return s, nil
}

// Auto reports whether the settings want automatic compaction.
func (h *loopHost) Auto() bool {
	f := h.live.Current()
	return f.Auto()
}

// modelFor chooses the model: the flag's, else the session's last, else the
// settings'.
func (h *loopHost) modelFor() (string, error) {
	if h.f.model != "" {
		return h.f.model, nil
	}
	path := h.session.Path()
	for i := len(path) - 1; i >= 0; i-- {
		if e := &path[i]; e.Type == session.TypeModelChange && e.Model != "" {
			if e.Provider == simmodel.Name {
				return simmodel.Name, nil
			}
			if _, _, err := llm.ParseSpec(e.Provider + "/" + e.Model); err == nil {
				return e.Provider + "/" + e.Model, nil
			}
		}
	}
	f := h.live.Current()
	// The provider of a model gets the conversation, and what its tools find here.
	if f.Model != "" && f.Model != simmodel.Name && h.live.FromUntrusted("model") {
		return "", usageErrorf("the project's settings name %s, but you have not trusted them; name the model that should answer with --model PROVIDER/MODEL, or run winnow config trust", f.Model)
	}
	if f.Model != "" {
		return f.Model, nil
	}
	return "", usageErrorf("which model should answer? Name one with --model PROVIDER/MODEL, for example openai/gpt-5-mini, or try --model sim, which needs no key; the setting model makes one the default")
}

// Model returns the model of a name.
func (h *loopHost) Model(ctx context.Context, name string) (loop.Model, string, string, error) {
	name = strings.TrimSpace(name)
	if name == simmodel.Name {
		m, end, err := simmodel.New(h.f.window, h.f.seed, h.gap)
		if err != nil {
			return nil, "", "", err
		}
		h.mu.Lock()
		h.ends = append(h.ends, end)
		h.mu.Unlock()
		return m, simmodel.Name, simmodel.Name, h.useModel(name)
	}
	spec := name
	provider, id, err := llm.ParseSpec(spec)
	if err != nil && !strings.Contains(name, "/") { // the registry may know whose it is
		if m := h.registry.Lookup(name); !m.Source.Guess() {
			spec = m.Provider + "/" + name
			provider, id, err = llm.ParseSpec(spec)
		}
	}
	if err != nil {
		return nil, "", "", modelError(name, err)
	}
	auth, err := h.a.cloudAuth(ctx, spec)
	if err != nil {
		return nil, "", "", modelError(name, err)
	}
	window := h.f.window
	if m := h.registry.Lookup(spec); window == 0 && !m.Source.Guess() {
		window = m.Context
	}
	c, err := llm.New(spec, &llm.Options{Auth: auth, Getenv: h.a.getenv, Window: window})
	if err != nil {
		return nil, "", "", modelError(name, err)
	}
	return c, provider, id, h.useModel(spec)
}

// useModel makes the settings those for a model.
func (h *loopHost) useModel(spec string) error {
	h.mu.Lock()
	h.spec = spec
	h.mu.Unlock()
	return h.live.Reload()
}

// modelError returns an error of usage: the person can mend it.
func modelError(name string, err error) error {
	return setupError("the model "+name, "try --model sim, which needs no key and no network", err)
}
