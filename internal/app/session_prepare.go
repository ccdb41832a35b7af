package app

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	fileinput "github.com/winnow-llm/winnow/internal/input"
	"github.com/winnow-llm/winnow/internal/pibase"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/summary"
)

// prepareFlags are the flags of prepare.
type prepareFlags struct {
	entries, keepRecent int
	policy, focus       string
}

// Policies of prepare.
const (
	policyPi  = "pi"
	policyOwn = "winnow"
)

func (a *app) sessionPrepareCommand(f *storeFlags) *cobra.Command {
	var pf prepareFlags
	cmd := newCommand("prepare SESSION", "Show what a compaction would cut; nothing is written", `
  winnow session prepare session.jsonl --policy pi --keep-recent 20000
  winnow session prepare 019a8c1f --entries 120 --json

Shows where a compaction would cut: what would be summarised, what would stay, and
hashes of the texts that the summariser would get.

The policy "pi" does what pi 1.5.0 would do, to the token and to the byte; it is the
default for a session file. "winnow" does what winnow session compact would do with
the same focus; it is the default for a session in the store.`,
		cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error { return a.sessionPrepare(cmd, f, &pf, args[0]) })
	cmd.Flags().IntVar(&pf.entries, "entries", -1, "look only at the first `N` entries, not counting the header")
	tokensVar(cmd.Flags(), &pf.keepRecent, "keep-recent", 0, "`TOKENS` to keep at the end (default: pi 20000, winnow the setting keep_recent)")
	cmd.Flags().StringVar(&pf.policy, "policy", "", "`POLICY` to follow: pi or winnow")
	cmd.Flags().StringVar(&pf.focus, "focus", "", "`TEXT` that the summary should pay attention to")
	addPreset(cmd)
	_ = cmd.RegisterFlagCompletionFunc("policy", completeFrom(func() []string { return []string{policyPi, policyOwn} }))
	return cmd
}

// prepared is the JSON document of prepare.
type prepared struct {
	Session    string `json:"session"`
	Policy     string `json:"policy"`
	Entries    int    `json:"entries"`
	KeepRecent int    `json:"keep_recent"`

	Possible bool   `json:"possible"`
	Reason   string `json:"reason"`

	// FirstKeptIndex is the entry that stays first, among the entries looked
	// at; null where nothing can be cut.
	FirstKeptIndex *int   `json:"first_kept_index"`
	FirstKept      string `json:"first_kept"`
	SplitTurn      bool   `json:"split_turn"`

	Summarize    int `json:"messages_to_summarize"`
	TurnPrefix   int `json:"turn_prefix_messages"`
	TokensBefore int `json:"tokens_before"`
	TokensKept   int `json:"tokens_kept,omitempty"` // policy winnow only

	// The hashes are of the texts that a summariser would read.
	HistoryHash string `json:"history_sha256"`
	PrefixHash  string `json:"prefix_sha256"`

	ReadFiles     int    `json:"read_files"`
	ModifiedFiles int    `json:"modified_files"`
	FooterHash    string `json:"footer_sha256"`

	// Previous says that an earlier summary would be updated.
	Previous bool `json:"previous_summary"`
}

func (a *app) sessionPrepare(cmd *cobra.Command, f *storeFlags, pf *prepareFlags, name string) error {
	policy := pf.policy
	if policy == "" {
		policy = policyOwn
		if isSessionFile(name) {
			policy = policyPi
		}
	}
	if preset := cmd.Flag("preset"); policy == policyPi && preset.Changed {
		return usageErrorf("--preset %s: pi has no presets; add --policy winnow", preset.Value)
	}
	if policy == policyPi && pf.focus != "" {
		return usageErrorf("--focus: pi's cut does not depend on it; add --policy winnow")
	}
	var doc *prepared
	var err error
	switch policy {
	case policyPi:
		doc, err = a.preparePi(cmd, f, pf, name)
	case policyOwn:
		doc, err = a.prepareOwn(cmd, f, pf, name)
	default:
		return usageErrorf("--policy %s: there is no such policy; there are pi and winnow", policy)
	}
	if err != nil {
		return err
	}
	return a.printResult(doc, func() { a.showPrepared(doc) })
}

// preparePi does as pi would. A file is read as pi reads it, whatever it is.
func (a *app) preparePi(cmd *cobra.Command, f *storeFlags, pf *prepareFlags, name string) (*prepared, error) {
	file, err := a.readPi(cmd, f, name)
	if err != nil {
		return nil, err
	}
	keep := pibase.KeepRecent
	if cmd.Flags().Changed("keep-recent") {
		keep = pf.keepRecent
	}
	n, err := pf.entryCount(len(file.Entries))
	if err != nil {
		return nil, err
	}
	doc := preparePi(file, n, keep)
	doc.Session = name
	return doc, nil
}

// readPi reads a file as pi does, or a session as pi would have it.
func (a *app) readPi(cmd *cobra.Command, f *storeFlags, name string) (*pibase.File, error) {
	if isSessionFile(name) {
		file, err := a.readPiFile(name)
		if err != nil || file != nil {
			return file, err
		}
	}
	notPi := fmt.Errorf("%s: this is not a session file of pi: its first record is not a header; winnow session import imports other formats into the store", name)
	if name == "-" {
		return nil, notPi
	}
	s, err := a.openSession(cmd.Context(), f, name, &session.Options{}, false)
	if err != nil && isSessionFile(name) {
		return nil, notPi
	}
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var written bytes.Buffer
	if _, err := s.WriteTo(&written); err != nil {
		return nil, err
	}
	return pibase.Read(written.Bytes())
}

// readPiFile reads a file; nil where pi cannot. The bytes of a large one are not held.
func (a *app) readPiFile(name string) (*pibase.File, error) {
	if info, err := os.Stat(name); err == nil && info.Size() >= fileinput.Large {
		makeRoom(name)
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if file, err := pibase.ReadFrom(f); err == nil { // else it may be compressed
			return file, nil
		}
	}
	in, err := a.openInput(name)
	if err != nil {
		return nil, err
	}
	file, _ := pibase.Read(in.Data) // what is no file of pi's may be another session
	return file, nil
}

// entryCount returns how many of the entries to look at.
func (pf *prepareFlags) entryCount(all int) (int, error) {
	if pf.entries > all {
		return 0, usageErrorf("--entries %d: the session has %d", pf.entries, all)
	}
	if pf.entries < 0 {
		return all, nil
	}
	return pf.entries, nil
}

// preparePi says what pi would cut from the first n entries of a file.
func preparePi(file *pibase.File, n, keepRecent int) *prepared {
	path := pibase.Path(file.Entries[:n], "")
	doc := &prepared{Policy: policyPi, Entries: n, KeepRecent: keepRecent}
	p, why := pibase.Prepare(path, keepRecent)
	if p == nil {
		doc.Reason = why
		doc.TokensBefore = pibase.EstimateContext(pibase.Project(path).Messages()).Tokens
		return doc
	}
	doc.Possible, doc.FirstKept, doc.SplitTurn = true, p.FirstKept, p.Split
	if i := slices.IndexFunc(file.Entries[:n], func(e pibase.Entry) bool { return e.ID == p.FirstKept }); i >= 0 {
		doc.FirstKeptIndex = &i
	}
	doc.Summarize, doc.TurnPrefix, doc.TokensBefore = len(p.History), len(p.Prefix), p.TokensBefore
	doc.HistoryHash, doc.PrefixHash = hashText(pibase.Serialize(p.History)), hashText(pibase.Serialize(p.Prefix))
	read, modified := p.Files.Lists()
	doc.ReadFiles, doc.ModifiedFiles = len(read), len(modified)
	doc.FooterHash, doc.Previous = hashText(pibase.Footer(read, modified)), p.HasPrevious
	return doc
}

func hashText(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }

// entriesAtOnce is how many entries are decoded to look for one: a session may have a
// million.
const entriesAtOnce = 1 << 12

// prepareOwn says what the fold of winnow would summarise.
func (a *app) prepareOwn(cmd *cobra.Command, f *storeFlags, pf *prepareFlags, name string) (*prepared, error) {
	s, o, err := a.openWith(cmd, f, name, false, &modelFlags{cmd.Flags()}, false)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	n, err := pf.entryCount(s.Len())
	if err != nil {
		return nil, err
	}
	doc := &prepared{Session: name, Policy: policyOwn, Entries: n}
	if n == 0 {
		doc.Reason = "the session is empty"
		return doc, nil
	}
	if n < s.Len() {
		o.Leaf = s.Page(n-1, 1)[0].ID
		s.Close()
		if s, err = a.openSession(cmd.Context(), f, name, o, false); err != nil {
			return nil, err
		}
		defer s.Close()
	}
	p, why, err := s.Prepare(cmd.Context(), pf.focus, pf.keepRecent)
	if err != nil {
		return nil, err
	}
	_, now, err := s.NeedsCompaction()
	if err != nil {
		return nil, err
	}
	doc.KeepRecent, doc.TokensBefore, doc.TokensKept = p.Options.KeepRecent, now.Count.Tokens, p.TokensKept
	if why != "" {
		doc.Reason = why
		return doc, nil
	}
	doc.Possible, doc.FirstKept, doc.SplitTurn, doc.Previous = true, p.KeptID, p.Split, p.Previous != ""
	for i := 0; i < n && doc.FirstKeptIndex == nil; i += entriesAtOnce {
		page := s.Page(i, min(entriesAtOnce, n-i))
		if k := slices.IndexFunc(page, func(e session.Entry) bool { return e.ID == p.KeptID }); k >= 0 {
			k += i
			doc.FirstKeptIndex = &k
		}
	}
	history, prefix := p.History(), p.TurnPrefix()
	doc.Summarize, doc.TurnPrefix = len(history), len(prefix)
	doc.HistoryHash = hashText(summary.Serialize(history, 0, len(history)))
	doc.PrefixHash = hashText(summary.Serialize(prefix, 0, len(prefix)))
	doc.FooterHash = hashText(p.Footer)
	doc.ReadFiles, doc.ModifiedFiles = len(p.Read), len(p.Modified)
	return doc, nil
}

// showPrepared says it in words.
func (a *app) showPrepared(d *prepared) {
	st, out := a.styleFor(a.stdout), a.stdout
	stay := d.KeepRecent
	if d.TokensKept > 0 {
		stay = d.TokensKept
	}
	fmt.Fprintf(out, "%s: %s, %s tokens\npolicy %s, %s tokens at the end stay\n\n",
		st.Bold(brief(d.Session, st.Columns()-36)), plural(d.Entries, "entry"), number(d.TokensBefore), d.Policy, number(stay))
	if !d.Possible {
		fmt.Fprintf(out, "%s: %s\n", st.Warm("nothing to compact"), d.Reason)
		return
	}
	fmt.Fprintf(out, "cut before entry %s", d.FirstKept)
	if d.FirstKeptIndex != nil {
		fmt.Fprintf(out, ", number %d", *d.FirstKeptIndex)
	}
	if d.SplitTurn {
		fmt.Fprint(out, ", inside a turn")
	}
	fmt.Fprintf(out, "\n%s to summarise", plural(d.Summarize, "message"))
	if d.TurnPrefix > 0 {
		fmt.Fprintf(out, ", and %s of the turn that goes on", plural(d.TurnPrefix, "message"))
	}
	fmt.Fprintf(out, "\n%s read, %s modified\n", plural(d.ReadFiles, "file"), plural(d.ModifiedFiles, "file"))
	if d.Previous {
		fmt.Fprintln(out, "the earlier summary would be updated")
	}
}
