package gateway

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"

	"github.com/winnow-llm/winnow/transport/planstore"
)

// A browser shows who it is by a cookie. It gets one by an address that works
// once: whoever has a key, or can read the store of a gateway without keys, asks
// for such an address and opens it. The cookie stands for whoever asked, sees
// what they see, and ends with the process.
//
// Neither the address nor the cookie is in any JSON, log or list of visited
// pages: the address answers with a redirect, and is spent then. Cookies do not
// tell ports apart, so other servers on the same host would get ours; its path
// keeps it from all that is not below /winnow/ there. It can be used for nothing
// but the gateway's own pages, not for calls to models, and no cookie makes
// another address.

const (
	// CookieName is the name of a browser's cookie.
	CookieName = "winnow"

	addressLife = 15 * time.Minute
	cookieLife  = 12 * time.Hour
	maxBrowsers = 1000
)

// browser is whom an address or a cookie stands for.
type browser struct {
	tenant planstore.Tenant
	owner  bool
	until  time.Time
}

// browsers are the addresses and cookies that are good, by their hashes.
type browsers struct {
	mu                 sync.Mutex
	addresses, cookies map[[sha256.Size]byte]browser
	now                func() time.Time
}

func newBrowsers() *browsers {
	return &browsers{addresses: make(map[[sha256.Size]byte]browser), cookies: make(map[[sha256.Size]byte]browser), now: time.Now}
}

// give makes a token for somebody.
func (b *browsers) give(to map[[sha256.Size]byte]browser, who browser, life time.Duration) string {
	token := rand.Text() + rand.Text()
	now := b.now()
	for hash, x := range to { // those that nobody used
		if now.After(x.until) {
			delete(to, hash)
		}
	}
	for hash := range to {
		if len(to) < maxBrowsers {
			break
		}
		delete(to, hash)
	}
	who.until = now.Add(life)
	to[sha256.Sum256([]byte(token))] = who
	return token
}

// address makes a token for an address.
func (b *browsers) address(who browser) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.give(b.addresses, who, addressLife)
}

// enter spends an address for a cookie.
func (b *browsers) enter(token string) (cookie string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	hash := sha256.Sum256([]byte(token))
	who, ok := b.addresses[hash]
	delete(b.addresses, hash)
	if !ok || b.now().After(who.until) {
		return "", false
	}
	return b.give(b.cookies, who, cookieLife), true
}

// of returns whom a request's cookie stands for.
func (b *browsers) of(r *http.Request) (browser, bool) {
	c, err := r.Cookie(CookieName)
	if err != nil {
		return browser{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	who, ok := b.cookies[sha256.Sum256([]byte(c.Value))]
	return who, ok && !b.now().After(who.until)
}

// enterPath is where addresses lead.
const enterPath = "/winnow/enter/"

// OwnerAddress returns the path of an address that works once and shows what the
// owner of a gateway without keys may see. With keys there is no owner: callers
// ask for an address of their own with POST /winnow/address. It is "" then.
func (g *Gateway) OwnerAddress() string {
	if g.keys != nil {
		return ""
	}
	return enterPath + g.browsers.address(browser{owner: true})
}

// makeAddress answers with an address that works once, for whoever has shown a
// key, a credential or that they are the owner. It is text, and not to be kept.
func (g *Gateway) makeAddress(w http.ResponseWriter, r *http.Request) {
	if _, cookie := r.Context().Value(browserKey).(browser); cookie {
		g.refuse(w, r, http.StatusForbidden, "winnow: a browser's cookie cannot be used to make addresses; send the key")
		return
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(scheme + "://" + r.Host + enterPath + g.browsers.address(browser{tenant: tenantOf(r), owner: g.owned(r)}) + "\n")) // the caller may be gone
}

// enter gives a browser its cookie. What the address was is nowhere afterwards.
func (g *Gateway) enter(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	if r.Method != http.MethodGet || r.Header.Get("Sec-Purpose") != "" || r.Header.Get("Purpose") != "" {
		refuse(w, http.StatusForbidden, "winnow: open this address yourself") // looked at ahead, it would be spent
		return
	}
	cookie, ok := g.browsers.enter(r.PathValue("token"))
	if !ok {
		g.metrics.denied.Add(1)
		refuse(w, http.StatusForbidden, "winnow: this address was already used or has expired; get another one with winnow address, or with POST /winnow/address and your key")
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: CookieName, Value: cookie, Path: "/winnow/", MaxAge: int(cookieLife / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	})
	http.Redirect(w, r, "/winnow/", http.StatusSeeOther)
}
