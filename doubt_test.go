package winnow_test

import (
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
)

// A name that the registry does not know is said to be, wherever limits are
// reported, unless somebody said what the window is.
func TestDoubtAboutTheModel(t *testing.T) {
	req := chat.Request{History: chat.NewHistory(chat.TextMessage(chat.User, "hello"))}
	for name, c := range map[string]struct {
		set   winnow.Settings
		doubt bool
	}{
		"misspelt":                  {winnow.Settings{Model: "gtp-4o"}, true},
		"misspelt, of a provider":   {winnow.Settings{Model: "claude-sonet-gtp-4o"}, true},
		"misspelt, but with limits": {winnow.Settings{Model: "gtp-4o", Window: 64_000}, false},
		"known":                     {winnow.Settings{Model: "gpt-4o"}, false},
		"a version to come":         {winnow.Settings{Model: "claude-opus-99"}, false},
		"none":                      {winnow.Settings{}, false},
	} {
		w, err := winnow.New(&winnow.Options{Settings: c.set})
		if err != nil {
			t.Fatal(err)
		}
		status, err := w.Check(req, winnow.State{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := w.Fit(t.Context(), req, winnow.State{})
		if err != nil {
			t.Fatal(err)
		}
		if (status.Doubt != "") != c.doubt || r.Before.Doubt != status.Doubt || c.doubt && !strings.Contains(status.Doubt, "gtp-4o") {
			t.Errorf("%s: %q, then %q", name, status.Doubt, r.Before.Doubt)
		}
	}
}
