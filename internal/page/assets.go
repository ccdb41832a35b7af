package page

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"net/http"
	"strings"
)

//go:embed dist
var dist embed.FS

// policy is what the browser may do with the page.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// About says what a page is opened on.
type About struct {
	// Note is what the reader must know, such as that changes are not kept.
	Note string `json:"note,omitempty"`

	// Progress says that a conversation may have to be made first, and that it
	// can be asked how far that is.
	Progress bool `json:"progress,omitempty"`

	// Frozen are all answers by their address, for a page that is a file.
	Frozen map[string]any `json:"frozen,omitempty"`
}

// types of the files that the page is made of.
var types = map[string]string{
	"index.html": "text/html; charset=utf-8", "app.js": "text/javascript; charset=utf-8",
	"app.css": "text/css; charset=utf-8", "LICENSES.txt": "text/plain; charset=utf-8",
}

// Files returns the names of what the page is made of besides itself.
func Files() []string { return []string{"app.js", "app.css", "LICENSES.txt"} }

// Handler serves the files of the page below a path that ends in a slash.
// The interface beside it decides who may see what: the page by itself tells
// nothing.
func Handler(path string, about About) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := cmp.Or(strings.TrimPrefix(r.URL.Path, path), "index.html")
		kind, ok := types[name]
		data, err := dist.ReadFile("dist/" + name)
		if !ok || err != nil {
			http.NotFound(w, r)
			return
		}
		if name == "index.html" {
			data = withAbout(data, about)
		}
		h := w.Header()
		h.Set("Content-Type", kind)
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-cache")
		_, _ = w.Write(data) // an error means that the browser went away
	})
}

// aboutAt is where the page has what it is opened on.
const aboutAt = `<script type="application/json" id="about">{}</script>`

// withAbout returns the page with what it is opened on. As JSON it is written without
// any character that could end its element.
func withAbout(index []byte, about About) []byte {
	doc, err := json.Marshal(about)
	if err != nil { // maps of documents that were made here
		panic(err)
	}
	return bytes.Replace(index, []byte(aboutAt), []byte(`<script type="application/json" id="about">`+string(doc)+`</script>`), 1)
}
