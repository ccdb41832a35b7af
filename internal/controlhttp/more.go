package controlhttp

import (
	"fmt"
	"net/http"

	"github.com/winnow-llm/winnow/control"
)

// More are the addresses of what only some sources have: [control.FileReader] and
// [control.Adviser]. Those of others know nothing there.
func More(of func(*http.Request) control.Source) map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"GET /winnow/conversations/{id}/file": func(w http.ResponseWriter, r *http.Request) {
			s, ok := of(r).(control.FileReader)
			if !ok {
				tell(w, nil, fmt.Errorf("%w: the texts of files are not shown here", control.ErrUnknown))
				return
			}
			f, err := s.File(r.Context(), r.PathValue("id"), r.URL.Query().Get("path"))
			tell(w, f, err)
		},
		"GET /winnow/conversations/{id}/hints": func(w http.ResponseWriter, r *http.Request) {
			hints := []control.Hint{}
			var err error
			if s, ok := of(r).(control.Adviser); ok {
				hints, err = s.Hints(r.Context(), r.PathValue("id"))
			}
			tell(w, map[string]any{"hints": hints}, err)
		},
	}
}
