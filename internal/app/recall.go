package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
)

func (a *app) recallCommand() *cobra.Command {
	var format, planPath string
	var f recallFlags
	var r recall.Range
	var all, history bool
	cmd := newCommand("recall [FILE] HANDLE", "Print the original behind a handle", `
  winnow recall w3kfa82nq
  winnow recall w3kfa82nq --from 201
  winnow recall w3kfa82nq --find "panic parser"
  winnow recall --history "disk full"
  winnow recall session.jsonl w3kfa82nq --plan session.jsonl.plan.json

Prints what an edit replaced. You find handles in the view, in the plan and in the
output of winnow plan show.

With only a HANDLE, winnow looks for the original in the gateway's plans, in those of
winnow compact and in the store of sessions, and prints it a page at a time with line
numbers; --all prints the whole original and nothing else. --gateway or WINNOW_GATEWAY
names the gateway to ask, and WINNOW_KEY holds its key. Without a gateway, winnow reads
the gateway's file, which has originals if the gateway was started with
--keep-originals, and always those of winnow compact. The file covers all callers of
the gateway; --tenant limits the search to one.

With --history the arguments are words to search for in what is hidden from one
conversation, or with --all from every conversation. --session names the session by its
id or its file; else it is that of the agent that runs winnow, if winnow compact wrote
its session; else the most recent one. winnow mcp offers the same to a model.

With a FILE, winnow looks the handle up in its plan (FILE.plan.json, or what --plan
names; else earlier plans of winnow compact) and prints the whole original unless you
ask for a page.`, func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) == 0 && history:
			return usageErrorf("recall --history: which words?")
		case len(args) == 0:
			return usageErrorf("recall: which handle? winnow recall --history WORDS searches what is hidden; see winnow help recall")
		case len(args) > 2 && !history:
			return usageErrorf("recall takes a HANDLE, or a FILE and a HANDLE; words to search for go after --find or --history")
		}
		return nil
	}, func(cmd *cobra.Command, args []string) error {
		switch {
		case history:
			return a.recallHistory(cmd.Context(), &f, recall.Query{Words: strings.Join(args, " "), All: all})
		case len(args) == 1:
			if planPath != "" || format != "" {
				return usageErrorf("recall: --plan and --format need a FILE; name it before the handle")
			}
			return a.recallHandle(cmd.Context(), &f, args[0], r, all)
		}
		return a.runRecall(cmd.Context(), args[0], args[1], planPath, format, r)
	})
	cmd.Flags().IntVar(&r.From, "from", 0, "first `LINE` to print")
	cmd.Flags().IntVar(&r.Lines, "lines", 0, fmt.Sprintf("how `MANY` lines to print (default %d, at most %d)", recall.DefaultLines, recall.MaxLines))
	cmd.Flags().StringVar(&r.Find, "find", "", "print only lines with these `WORDS`")
	cmd.Flags().BoolVar(&all, "all", false, "print the whole original; with --history, search all conversations")
	cmd.Flags().BoolVar(&history, "history", false, "search what is hidden for words")
	f.addTo(cmd)
	cmd.Flags().StringVar(&planPath, "plan", "", "the plan's `FILE`")
	cmd.Flags().StringVar(&format, "format", "", "`FORMAT` of FILE instead of detecting it")
	return cmd
}

// recallHandle prints the original behind a handle alone.
func (a *app) recallHandle(ctx context.Context, f *recallFlags, handle string, r recall.Range, all bool) error {
	if _, _, err := recall.Parse(handle); err != nil {
		return usageErrorf("recall %s: that is not a handle; a handle is a w and eight letters or digits, as in [original: w3kfa82nq], and a FILE needs one after it", handle)
	}
	source, done, err := f.openSource(ctx, a)
	defer done()
	if err != nil {
		return err
	}
	if all {
		r.Lines = recall.MaxLines
	}
	page, err := source.Recall(ctx, handle, r)
	if errors.Is(err, recall.ErrUnknown) {
		return fmt.Errorf("%w; if the plan is only in a file, name the conversation too: winnow recall FILE %s --plan PLAN", err, handle)
	}
	if err != nil {
		return err
	}
	for all && page.Next > 0 {
		r.From = page.Next
		next, err := source.Recall(ctx, handle, r)
		if err != nil {
			return err
		}
		page.Lines, page.Next = append(page.Lines, next.Lines...), next.Next
	}
	if all && !a.asJSON {
		return a.printContent(recall.Join(page.Lines))
	}
	return a.printResult(page, func() { fmt.Fprint(a.dataWriter(), forPeople(page.Format(r))) })
}

// recallHistory looks for words in what is hidden.
func (a *app) recallHistory(ctx context.Context, f *recallFlags, q recall.Query) error {
	source, done, err := f.openSource(ctx, a)
	defer done()
	if err != nil {
		return err
	}
	found, err := source.Search(ctx, q)
	if err != nil {
		return err
	}
	return a.printResult(found, func() { fmt.Fprint(a.dataWriter(), forPeople(found.Format(q))) })
}

// flagsFor are the tools' arguments as the command writes them.
var flagsFor = strings.NewReplacer("go on with from=", "go on with --from ", "with all=true", "with --all", "leave find out", "leave --find out", "; read on with recall, handle and from]", "; read on with winnow recall HANDLE --from LINE]")

// forPeople writes what the tools say as the command says it: in the first and
// the last line, since all others are quoted.
func forPeople(s string) string {
	first, rest, _ := strings.Cut(s, "\n")
	at := strings.LastIndex(strings.TrimSuffix(rest, "\n"), "\n") + 1
	body, last := rest[:at], rest[at:]
	if strings.HasPrefix(last, "[") {
		last = flagsFor.Replace(last)
	}
	return flagsFor.Replace(first) + "\n" + body + last
}

// recalled is the JSON document of recall.
type recalled struct {
	Content  string        `json:"content"`
	Handle   string        `json:"handle"`
	Kind     plan.Kind     `json:"kind"`
	Stage    string        `json:"stage"`
	From     int           `json:"from"`
	To       int           `json:"to"`
	Part     int           `json:"part"`
	Messages []show.Origin `json:"messages,omitempty"`
}

func (a *app) runRecall(ctx context.Context, path, handle, planPath, format string, r recall.Range) error {
	o, err := a.originalIn(ctx, path, handle, planPath, format)
	if err != nil {
		return err
	}
	if r != (recall.Range{}) {
		page := recall.Cut(recall.Text(&o), r)
		page.Handle = handle
		return a.printResult(page, func() { fmt.Fprint(a.dataWriter(), forPeople(page.Format(r))) })
	}
	content, messages := show.OriginalText(&o)
	if a.asJSON {
		return a.printJSON(recalled{
			Content: content, Handle: handle, Kind: o.Edit.Kind, Stage: o.Edit.Stage,
			From: o.Edit.From, To: o.Edit.To, Part: o.Edit.Part, Messages: messages,
		})
	}
	return a.printContent(content)
}

// originalIn looks for the original behind a handle in the plan of a file, and where no
// plan is named also in those that winnow compact made before.
func (a *app) originalIn(ctx context.Context, path, handle, planPath, format string) (plan.Original, error) {
	if planPath == "" && path == "-" {
		return plan.Original{}, usageErrorf("recall -: name the plan's file with --plan")
	}
	beside := cmp.Or(planPath, path+".plan.json")
	_, missing := os.Stat(beside)
	if missing == nil || planPath != "" {
		r, err := a.readPlanned(beside, path, format)
		if err != nil {
			return plan.Original{}, err
		}
		if o, err := plan.Recall(r.session.Request.History, r.plan, handle); err == nil {
			return o, nil
		}
	}
	if planPath == "" {
		if o, err := a.originalKept(ctx, handle); err == nil {
			return o, nil
		}
	}
	if missing != nil {
		return plan.Original{}, usageErrorf("%s: there is no such plan to look the handle up in; name the plan's file with --plan", beside)
	}
	return plan.Original{}, fmt.Errorf("%s: no edit has the handle %q; winnow plan show lists them", beside, handle)
}

// printContent prints an original. A file or another program gets it and nothing
// else.
func (a *app) printContent(content string) error {
	_, err := fmt.Fprint(a.dataWriter(), content)
	if err == nil && isTerminal(a.stdout) && !strings.HasSuffix(content, "\n") {
		_, err = fmt.Fprintln(a.stdout)
	}
	return err
}
