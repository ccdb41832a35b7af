package sqlite_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/race"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
	"github.com/winnow-llm/winnow/wire"
)

// letters returns n random letters and digits.
func letters(r *rand.Rand, n int) string {
	const all = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = all[r.IntN(len(all))]
	}
	return string(b)
}

// wholeOnly is a redactor that finds no pieces of secrets, only whole ones.
type wholeOnly struct{ transport.Redactor }

// A result that is shortened may be cut inside a private key. What is left of the
// key, which no longer looks like one, does not reach the store either. A case
// counts where a piece is stored by a redactor that knows whole secrets only: which
// ones do depends on where the stages cut, so others are looked for when the first
// three no longer do.
func TestPiecesOfSecretsAreNotStored(t *testing.T) {
	t.Parallel()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, `{}`)
	}))
	defer up.Close()
	seeds := []uint64{6, 23, 37}
	for seed := range uint64(100) {
		seeds = append(seeds, seed)
	}
	cases := 0
	for _, seed := range seeds {
		body, secret := withKeys(t, seed)
		if n := piecesStored(t, up.URL, body, secret, wholeOnly{&session.Redactor{}}); n == 0 {
			continue
		}
		if n := piecesStored(t, up.URL, body, secret, &session.Redactor{}); n > 0 {
			t.Errorf("seed %d: pieces of %d lines of %d are in the store", seed, n, len(secret))
		}
		if cases++; cases == race.Fewer(3) {
			return
		}
	}
	t.Errorf("only %d cases leave a piece of a key to be found", cases)
}

// withKeys returns a conversation whose results hold private keys, and the lines of
// these.
func withKeys(t *testing.T, seed uint64) (body []byte, secret []string) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 5))
	noise := func(lines int) string {
		var b strings.Builder
		for range lines {
			fmt.Fprintf(&b, "%s: step %d of %s failed in %s.go:%d\n", letters(r, 5), r.IntN(99), letters(r, 7), letters(r, 6), r.IntN(900))
		}
		return b.String()
	}
	withKey := func() string {
		key := "-----BEGIN RSA PRIVATE KEY-----\n"
		for range 25 {
			line := letters(r, 64)
			secret = append(secret, line)
			key += line + "\n"
		}
		return noise(r.IntN(50)) + key + "-----END RSA PRIVATE KEY-----\n" + noise(r.IntN(50))
	}
	var msgs []chat.Message
	for i := range 24 {
		id, result := fmt.Sprint("c", i), withKey()
		if i == 23 { // what is called for last has more than fits
			for range 5 {
				result += withKey()
			}
		}
		msgs = append(msgs, chat.TextMessage(chat.User, "look at "+letters(r, 8)),
			chat.CallMessage("", chat.Call(id, "bash", `{"command":"cat `+letters(r, 6)+`"}`)), chat.ResultMessage(id, result))
	}
	body, err := wire.Render(wire.OpenAI, "gpt-4o", chat.Request{History: chat.NewHistory(msgs...), Output: 500}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return body, secret
}

// piecesStored sends the conversation and returns how many lines of the keys have a
// piece in the store.
func piecesStored(t *testing.T, url string, body []byte, secret []string, redactor transport.Redactor) int {
	t.Helper()
	dir := t.TempDir()
	store, err := sqlite.Open(filepath.Join(dir, "plans.db"), planstore.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 6000, MaxTokens: 500}, Store: store, KeepOriginals: true, Redact: redactor})
	resp, _ := post(t, tr, url+"/v1/chat/completions", body)
	if resp.Header.Get(transport.HeaderPlan) == "" {
		t.Fatal("nothing was compacted")
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	all, left := stored(t, dir), 0
	for _, line := range secret {
		if strings.Contains(all, line[:20]) || strings.Contains(all, line[22:42]) || strings.Contains(all, line[44:]) {
			left++
		}
	}
	return left
}
