package page

import (
	"bytes"
	"cmp"
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
	err  error // the first one
}

// keep returns what keeps an answer under its address.
func (f *freezer) keep(address string) func(doc any, err error) {
	return func(doc any, err error) {
		f.docs[address] = doc
		f.err = cmp.Or(f.err, err)
	}
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
	f.keep(at + "/view")(f.s.View(ctx, id, nil))
	hints, err := f.s.Hints(ctx, id)
	f.keep(at+"/hints")(map[string]any{"hints": hints}, err)
	if s, ok := f.s.(besider); ok {
		f.keep(at + "/beside")(s.Beside(ctx, id))
	}
	f.freezeFiles(ctx, id, at)
	all := []control.Message{}
	for from, more := 0, true; more && f.room > 0 && f.err == nil; {
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
		from, more = m.Next, m.Next > 0
	}
	f.docs[at+"/messages"] = all
	return f.err
}

func (f *freezer) freezePlan(ctx context.Context, id plan.ID) error {
	if id == "" {
		return nil
	}
	at := "plans/" + string(id)
	f.keep(at + "/report")(f.s.Report(ctx, id))
	patch, err := f.s.Patch(ctx, id)
	if err != nil {
		return err
	}
	f.docs[at+"/patch"] = patch
	for i := range patch.Hunks {
		h := &patch.Hunks[i]
		if h.Handle != "" && f.docs["recall/"+h.Handle] == nil && f.room > 0 && f.err == nil {
			f.keep("recall/" + h.Handle)(f.freezeOriginal(ctx, h))
		}
	}
	return f.err
}

// frozenPage is an original with where it stood, for the search.
type frozenPage struct {
	recall.Page
	Message int    `json:"message"`
	Role    string `json:"role"`
}

func (f *freezer) freezeOriginal(ctx context.Context, h *control.Hunk) (*frozenPage, error) {
	out := &frozenPage{Message: h.From, Role: string(h.Role)}
	for first := true; first || out.Next > 0 && len(out.Lines) < frozenOriginal; first = false {
		page, err := f.s.Recall(ctx, h.Handle, recall.Range{From: out.Next, Lines: recall.MaxLines})
		if err != nil {
			return nil, err
		}
		page.Lines = append(out.Lines, page.Lines...)
		out.Page = page
	}
	for i := range out.Lines {
		l := &out.Lines[i]
		l.Text = strings.Clone(l.Text) // else it holds the whole original
		f.room -= len(l.Text) + 16
	}
	return out, nil
}

func (f *freezer) freezeFiles(ctx context.Context, id, at string) {
	files, err := f.s.Files(ctx, id)
	f.keep(at+"/files")(files, err)
	for i := 0; f.err == nil && f.room > 0 && i < len(files.Files); i++ {
		path := files.Files[i].Path
		text, err := f.s.File(ctx, id, path)
		f.keep(at+"/file?path="+path)(text, err)
		if err != nil {
			return
		}
		for _, r := range text.Regions {
			for k := range r.Lines {
				f.room -= len(r.Lines[k].Text) + 32
			}
		}
	}
}
