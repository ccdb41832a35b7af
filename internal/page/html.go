package page

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
)

// Bounds of a page that is a file. What is beyond them is left out, and the page
// says so where somebody asks for it.
const (
	frozenOriginal = 2000 // lines of one original
	frozenBytes    = 32 << 20
)

// Write returns the page with all that the source has of one conversation, as one
// file that needs no server. Whatever must not be in it has to be taken out before.
func Write(ctx context.Context, s control.Source, id string, about About) ([]byte, error) {
	f := &freezer{s: s, docs: map[string]any{}, room: frozenBytes}
	if err := f.freezeConversation(ctx, id); err != nil {
		return nil, err
	}
	return inOneFile(About{Note: about.Note, Frozen: f.docs})
}

// WriteInsights returns the page with a report about many sessions, which it shows
// by its own parts, as one file.
func WriteInsights(report any) ([]byte, error) {
	return inOneFile(About{Note: "A file to look at, without a server. Nothing left the machine, and it holds no text of any session.", Frozen: map[string]any{"insights": report}})
}

// inOneFile returns the page with all that it is made of.
func inOneFile(about About) ([]byte, error) {
	parts := make(map[string][]byte)
	for name := range types {
		var err error
		if parts[name], err = dist.ReadFile("dist/" + name); err != nil {
			return nil, err
		}
	}
	index, js, css, licences := parts["index.html"], parts["app.js"], parts["app.css"], parts["LICENSES.txt"]
	// The policy of the served page, with what it is made of named by hashes.
	rules := fmt.Sprintf("default-src 'none'; script-src %s; style-src %s; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'", policyHash(js), policyHash(css))
	index = bytes.Replace(index, []byte(`<meta charset="utf-8">`), fmt.Appendf(nil, "<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">", rules), 1)
	index = bytes.Replace(index, []byte(`<link rel="stylesheet" href="app.css">`), fmt.Appendf(nil, "<style>%s</style>", css), 1)
	index = withAbout(index, about)
	index = bytes.Replace(index, []byte(`<script src="app.js"></script>`), fmt.Appendf(nil, "<script>%s</script>\n<!--\n%s-->", js, bytes.ReplaceAll(licences, []byte("--"), []byte("- -"))), 1)
	return index, nil
}

// policyHash names a text in a policy.
func policyHash(text []byte) string {
	sum := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// freezer asks a source for everything that the page may ask for.
type freezer struct {
	s    control.Source
	docs map[string]any
	room int
}

func (f *freezer) freezeConversation(ctx context.Context, id string) error {
	at := "conversations/" + id
	d, err := f.s.Conversation(ctx, id)
	if err != nil {
		return err
	}
	f.docs["conversations"] = map[string]any{"conversations": []control.Conversation{d.Conversation}}
	f.docs[at] = d
	if !d.Readable {
		return nil
	}
	for i := range d.Plans {
		if err := f.freezePlan(ctx, d.Plans[i].ID); err != nil {
			return err
		}
	}
	if f.docs[at+"/view"], err = f.s.View(ctx, id, nil); err != nil {
		return err
	}
	hints, err := f.s.Hints(ctx, id)
	if err != nil {
		return err
	}
	f.docs[at+"/hints"] = map[string]any{"hints": hints}
	if s, ok := f.s.(besider); ok {
		if f.docs[at+"/beside"], err = s.Beside(ctx, id); err != nil {
			return err
		}
	}
	if err := f.freezeFiles(ctx, id, at); err != nil {
		return err
	}
	all := []control.Message{}
	for from := 0; f.room > 0; {
		m, err := f.s.Messages(ctx, id, control.Wanted{From: from})
		if err != nil {
			return err
		}
		for i := range m.Messages {
			for k := range m.Messages[i].Parts {
				f.room -= len(m.Messages[i].Parts[k].Text)
			}
		}
		all = append(all, m.Messages...)
		if from = m.Next; from == 0 {
			break
		}
	}
	f.docs[at+"/messages"] = all
	return nil
}

func (f *freezer) freezePlan(ctx context.Context, id plan.ID) error {
	if id == "" {
		return nil
	}
	at := "plans/" + string(id)
	report, err := f.s.Report(ctx, id)
	if err != nil {
		return err
	}
	patch, err := f.s.Patch(ctx, id)
	if err != nil {
		return err
	}
	f.docs[at+"/report"], f.docs[at+"/patch"] = report, patch
	for i := range patch.Hunks {
		h := &patch.Hunks[i]
		if h.Handle == "" || f.docs["recall/"+h.Handle] != nil || f.room <= 0 {
			continue
		}
		o, err := f.freezeOriginal(ctx, h)
		if err != nil {
			return err
		}
		f.docs["recall/"+h.Handle] = o
	}
	return nil
}

// frozenPage is an original with where it stood, for the search.
type frozenPage struct {
	recall.Page
	Message int    `json:"message"`
	Role    string `json:"role"`
}

func (f *freezer) freezeOriginal(ctx context.Context, h *control.Hunk) (*frozenPage, error) {
	page, err := f.s.Recall(ctx, h.Handle, recall.Range{Lines: recall.MaxLines})
	for err == nil && page.Next > 0 && len(page.Lines) < frozenOriginal {
		var next recall.Page
		if next, err = f.s.Recall(ctx, h.Handle, recall.Range{From: page.Next, Lines: recall.MaxLines}); err == nil {
			page.Lines, page.Next = append(page.Lines, next.Lines...), next.Next
		}
	}
	if err != nil {
		return nil, err
	}
	for i := range page.Lines {
		l := &page.Lines[i]
		l.Text = strings.Clone(l.Text) // else it holds the whole original
		f.room -= len(l.Text) + 16
	}
	return &frozenPage{page, h.From, string(h.Role)}, nil
}

func (f *freezer) freezeFiles(ctx context.Context, id, at string) error {
	files, err := f.s.Files(ctx, id)
	if err != nil {
		return err
	}
	f.docs[at+"/files"] = files
	for i := range files.Files {
		if f.room <= 0 {
			break
		}
		path := files.Files[i].Path
		text, err := f.s.File(ctx, id, path)
		if err != nil {
			return err
		}
		for _, r := range text.Regions {
			for k := range r.Lines {
				f.room -= len(r.Lines[k].Text) + 32
			}
		}
		f.docs[at+"/file?path="+path] = text
	}
	return nil
}
