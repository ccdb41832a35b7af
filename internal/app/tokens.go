package app

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/token"
)

func (a *app) tokensCommand() *cobra.Command {
	var in inputFlags
	var text bool
	cmd := newCommand("tokens FILE", "Count the tokens of a text or of a conversation", `
  winnow tokens README.md --model gpt-5
  echo "hello world" | winnow tokens - --model gpt-5 --exact
  winnow tokens session.json --estimator neurolink:anthropic

Counts a conversation with its system prompt, tool definitions and framing; a file
with several sessions is counted as a whole. Anything else is counted as plain
text.`, cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		return a.runTokens(args[0], &in, &modelFlags{cmd.Flags()}, text)
	})
	in.addTo(cmd)
	cmd.Flags().String("model", "", "`NAME` of the model to count for")
	cmd.Flags().Bool("exact", false, "count with a real vocabulary: slower, but more accurate")
	addEstimator(cmd)
	cmd.Flags().BoolVar(&text, "text", false, "count the input as plain text, whatever it is")
	return cmd
}

// counted is the JSON document of tokens.
type counted struct {
	Tokens   int            `json:"tokens"`
	Method   token.Method   `json:"method"`
	Bytes    int            `json:"bytes"`
	Band     float64        `json:"band"`
	Family   string         `json:"family"`
	Model    string         `json:"model"`
	What     string         `json:"what"` // text or conversation
	Format   string         `json:"format,omitempty"`
	Sessions []sessionCount `json:"sessions,omitempty"`
}

type sessionCount struct {
	Number int    `json:"number"`
	ID     string `json:"id"`
	Tokens int    `json:"tokens"`
}

func (a *app) runTokens(path string, in *inputFlags, mf *modelFlags, text bool) error {
	if text && (in.format != "" || in.session != "") {
		return usageErrorf("--text counts plain text, which has no format and no sessions")
	}
	l, err := a.loadSettings()
	if err != nil {
		return err
	}
	doc := counted{What: "text"}
	input, conversation, err := a.tokenInput(path, in.format, text)
	if err != nil {
		return err
	}
	sessions := input.Sessions
	if conversation && in.session != "" {
		s, err := a.chooseSession(input, in.session)
		if err != nil {
			return err
		}
		sessions = []source.Session{*s}
	}
	var first *source.Session
	if len(sessions) > 0 {
		first = &sessions[0]
	}
	w, err := l.engineFor(mf, first)
	if err != nil {
		return err
	}
	c := w.Meter().Counter()
	doc.Model, doc.Method, doc.Band, doc.Family, doc.Bytes = l.Model, c.Method(), c.Spread(), c.Family().String(), input.Size
	if conversation {
		doc.What, doc.Format = "conversation", string(input.Format)
		for i := range sessions {
			n := c.Request(&sessions[i].Request)
			doc.Tokens += n
			if len(sessions) > 1 {
				doc.Sessions = append(doc.Sessions, sessionCount{sessions[i].Number, sessions[i].ID, n})
			}
		}
	} else {
		doc.Tokens = c.Text(string(input.Data))
	}
	if a.asJSON {
		return a.printJSON(doc)
	}
	fmt.Fprintf(a.stdout, "%s\n", number(doc.Tokens))
	if c.Family() == token.Unknown {
		a.say("%s of %s bytes, counted for the model that needs most: another may need as little as a third of that; name it with --model", doc.What, number(doc.Bytes))
		return nil
	}
	a.say("%s of %s bytes, counted for %s (%s)", doc.What, number(doc.Bytes), doc.Family, show.CountNote(c.Count(doc.Tokens)))
	return nil
}

// tokenInput reads the input and reports whether it is a conversation. What
// cannot be read as one is text, unless the caller named a format.
func (a *app) tokenInput(path, format string, text bool) (*source.Input, bool, error) {
	if text {
		in, err := a.openInput(path)
		return in, false, err
	}
	in, err := a.loadInput(path, format)
	switch {
	case in == nil, err != nil && format != "":
		return nil, false, err
	case format == "" && (err != nil || !startsAsJSON(in.Data)):
		return in, false, nil //nolint:nilerr // no conversation, so a text
	}
	a.sayWarnings(in)
	return in, true, nil
}

// startsAsJSON reports whether data may be a conversation, as that of a large log, which
// is not kept, is. A text may well hold something that can be read as messages. What is
// damaged, or still being written, is a conversation all the same.
func startsAsJSON(data []byte) bool {
	head := bytes.TrimSpace(data[:min(len(data), 256)])
	return data == nil || bytes.HasPrefix(head, []byte("{")) || bytes.HasPrefix(head, []byte("["))
}
