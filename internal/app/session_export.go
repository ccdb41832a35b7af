package app

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/neurolink"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/transcript"
	"github.com/winnow-llm/winnow/wire"
)

// exportFlags are the flags of export.
type exportFlags struct {
	to, out, entry string
	view, force    bool
}

// exportFormats are the formats that a session can be written in.
var exportFormats = []string{
	string(transcript.Pi), string(transcript.OpenAI), string(transcript.Responses),
	string(transcript.Anthropic), string(transcript.Gemini), string(transcript.NeuroLink),
}

func (a *app) sessionExportCommand(f *storeFlags) *cobra.Command {
	var ef exportFlags
	cmd := newCommand("export SESSION", "Write a session in a format that other programs read", `
  winnow session export 019a8c1f --out session.jsonl
  winnow session export 019a8c1f --to anthropic --view --out body.json

Writes a session in another format, to standard output or to --out:

  pi         everything: all branches, compactions, labels (default); what came
             from a version 3 file of pi byte for byte, older versions as 3
  neurolink  the messages on the path, with tags that say what is hidden
  openai, responses, anthropic, gemini
             a request with the messages on the path; with --view what the
             model sees now, compactions applied

Standard error names what a format cannot hold. An existing file is overwritten only
with --force.`,
		cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error { return a.sessionExport(cmd, f, &ef, args[0]) })
	cmd.Flags().StringVar(&ef.to, "to", exportFormats[0], "`FORMAT`: "+strings.Join(exportFormats, ", "))
	cmd.Flags().StringVar(&ef.out, "out", "-", "write to `FILE`; - is standard output")
	cmd.Flags().StringVar(&ef.entry, "entry", "", "the path to this `ENTRY` instead of the leaf")
	cmd.Flags().BoolVar(&ef.force, "force", false, "overwrite an existing file")
	cmd.Flags().BoolVar(&ef.view, "view", false, "what the model sees, compactions applied")
	_ = cmd.RegisterFlagCompletionFunc("to", completeFrom(func() []string { return exportFormats }))
	return cmd
}

func (a *app) sessionExport(cmd *cobra.Command, f *storeFlags, ef *exportFlags, name string) error {
	switch {
	case !slices.Contains(exportFormats, ef.to):
		return usageErrorf("--to %s: there is no writer for this format; there are %s", ef.to, strings.Join(exportFormats, ", "))
	case ef.out == "-" && a.asJSON:
		return usageErrorf("--json and --out - both want standard output; write the session to a file")
	case ef.to == string(transcript.Pi) && (ef.view || ef.entry != ""):
		return usageErrorf("--view and --entry: a file of pi holds the whole tree; choose another format with --to")
	case ef.to == string(transcript.NeuroLink) && ef.view:
		return usageErrorf("--view: the tags of neurolink say what is hidden, and all messages are written; leave --view out")
	}
	s, o, err := a.openWith(cmd, f, name, false, nil, false)
	if err != nil {
		return err
	}
	defer func() {
		if s != nil {
			s.Close()
		}
	}()
	input := cmp.Or(s.Info().Path, name)
	outs := newOutputs(input)
	if !isRegular(input) { // from a store, whose owner alone can read it
		outs.mode = 0o600
	}
	if ef.out != "-" {
		if err := outs.checkPath(ef.out); err != nil {
			return err
		}
		if !ef.force && isRegular(ef.out) {
			return usageErrorf("%s: this file exists; give --force to overwrite it, or name another", ef.out)
		}
	}
	if ef.entry != "" {
		if o.Leaf, err = s.entryID(ef.entry); err != nil {
			return err
		}
		s.Close()
		if s, err = a.openSession(cmd.Context(), f, name, o, false); err != nil {
			return err
		}
	}
	c, err := s.Context()
	if err != nil {
		return err
	}
	id := s.ID()
	as := source.Session{ID: id, Title: s.Name(), Model: c.Model, Request: c.Request, Format: wireFormat(c.Provider, c.Model)}
	var from io.WriterTo = s
	messages, left := c.Request.History.Len(), []string{}
	if ef.to != string(transcript.Pi) {
		if branches := len(slices.DeleteFunc(s.Places(), func(p session.Place) bool { return p.Children > 0 })); branches > 1 {
			left = append(left, fmt.Sprintf("only the path to the leaf is written; the session has %d branches", branches))
		}
		s.Close()
		s = nil // nothing but its messages is held while they are written: they may be a gigabyte
		data, n, lost, err := encodeExport(&as, c.View, ef)
		if err != nil {
			return fmt.Errorf("%s: it cannot be written as %s: %w", name, ef.to, err)
		}
		messages, left, from = n, append(left, lost...), bytes.NewReader(data)
	}
	for _, x := range left {
		a.say("%s", x)
	}
	if ef.out == "-" {
		_, err := from.WriteTo(a.dataWriter())
		return err
	}
	if err := outs.addFrom(ef.out, from); err != nil {
		return err
	}
	if err := outs.write(); err != nil {
		return err
	}
	size := outs.files[0].size
	doc := map[string]any{"session": id, "format": ef.to, "file": ef.out, "bytes": size, "messages": messages, "left_out": left}
	return a.printReport(doc, func() {
		fmt.Fprintf(a.stdout, "%s: %s, %s\n", ef.out, plural(messages, "message"), sizeText(size))
	})
}

// encodeExport returns a session in a format, how many messages that has, and what it has
// no place for.
func encodeExport(s *source.Session, view plan.View, ef *exportFlags) (data []byte, messages int, left []string, err error) {
	var written chat.Sequence = s.Request.History
	messages = written.Len()
	switch {
	case ef.to == string(transcript.NeuroLink):
		tagged, masks, err := neurolink.Export(s.Request.History, view.Plan())
		if err != nil {
			return nil, 0, nil, err
		}
		if masks > 0 {
			left = append(left, fmt.Sprintf("%s inside messages have no tags: those messages are written whole", plural(masks, "edit")))
		}
		room := 1024
		for _, m := range s.Request.History.All() {
			room += m.Size().Bytes*9/8 + 50 // its tags, and quoting
		}
		data, messages = neurolink.Encode(s.ID, s.Title, s.Request.System, tagged, room)
	case ef.view:
		written, messages = view, view.Len()
		data, err = s.Write(view, ef.to)
	default:
		data, err = s.Write(show.Whole(s.Request.History), ef.to)
	}
	if err != nil {
		return nil, 0, nil, err
	}
	lost, err := lostParts(written, data, transcript.Format(ef.to))
	return data, messages, append(left, lost...), err
}

// lostParts reads the written file back and says which parts it lacks. A provider
// takes back only the thinking that it signed itself.
func lostParts(messages chat.Sequence, data []byte, format transcript.Format) ([]string, error) {
	want := make(map[chat.Kind]int)
	got, err := countWritten(data, format)
	if err != nil {
		return nil, err
	}
	for i := range messages.Len() {
		countParts(messages.At(i).Parts, want)
	}
	var out []string
	for _, kind := range []chat.Kind{chat.Thinking, chat.ToolCall, chat.ToolResult, chat.Image, chat.Document, chat.Opaque} {
		if n := want[kind] - got[kind]; n > 0 {
			why := "have no place in the format %s"
			if kind == chat.Thinking && (format == transcript.Anthropic || format == transcript.Responses) {
				why = "are left out: %s takes only what is signed by its own provider"
			}
			out = append(out, fmt.Sprintf("%d of %d parts with %s "+why, n, want[kind], strings.ReplaceAll(kind.String(), "_", " "), format))
		}
	}
	return out, nil
}

// countWritten counts the parts in a written file. It reads messages one by one,
// since all of them may be a gigabyte.
func countWritten(data []byte, format transcript.Format) (map[chat.Kind]int, error) {
	read, list := decode.OpenAI, "messages"
	switch format {
	case transcript.Anthropic:
		read = decode.Anthropic
	case transcript.Responses:
		read, list = decode.Item, "input"
	case transcript.Gemini:
		read, list = decode.Gemini, "contents"
	case transcript.NeuroLink:
		read = func(raw jsontext.Value) (chat.Message, error) {
			t, err := neurolink.Message(raw)
			return t.Message, err
		}
	}
	n := make(map[chat.Kind]int)
	for _, raw := range decode.Elements(decode.Member(data, list)) {
		m, err := read(raw)
		if err != nil {
			return nil, err
		}
		countParts(m.Parts, n)
	}
	return n, nil
}

// countParts counts parts by kind, those inside results too.
func countParts(parts []chat.Part, n map[chat.Kind]int) {
	for i := range parts {
		n[parts[i].Kind]++
		countParts(parts[i].Content, n)
	}
}

// wireFormat returns the format in which a session was sent, so that signatures stay
// where they are valid. Where no provider is noted, the model tells.
func wireFormat(provider, name string) transcript.Format {
	provider = cmp.Or(provider, name)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(provider, w) })
	}
	switch {
	case has("anthropic", "bedrock", "claude"):
		return transcript.Anthropic
	case has("google", "gemini", "vertex"):
		return transcript.Gemini
	case has(string(wire.Responses), "codex", "openai", "gpt"):
		return transcript.Responses
	}
	return transcript.Pi
}

// providerOf is the provider that answered a conversation of a format, where the format
// tells.
var providerOf = map[transcript.Format]string{
	transcript.Codex: "openai-codex", transcript.Responses: "openai", transcript.Anthropic: "anthropic", transcript.ClaudeCode: "anthropic",
	transcript.Gemini: "google", transcript.GeminiCLI: "google",
}
