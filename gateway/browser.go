package gateway

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/transport"
)

// A browser shows who it is by a cookie. It gets one by an address that works
// once: a person who has a key, or can read the store of a gateway without keys,
// asks for such an address and opens it. The cookie stands for that person and sees
// what they see.
//
// Both say themselves whom they stand for and until when, signed with a key that
// comes from the store's secret. So all gateways that share a store know them,
// whichever of them a load balancer chooses, and a restart ends nothing; that an
// address was used is noted in the store. With a store that has no secret they
// are known to this process alone.
//
// Neither the address nor the cookie is in any JSON, log or list of visited
// pages: the address answers with a redirect, and is spent then. Cookies do not
// tell ports apart, so other servers on the same host would get ours; its path
// keeps it from all that is not below /winnow/ there. It can be used for nothing
// but the gateway's own pages, not for calls to models, and no cookie makes
// another address.

const (
	// cookieName is the name of a browser's cookie.
	cookieName = "winnow"

	addressLife = 15 * time.Minute
	cookieLife  = 12 * time.Hour
)

// browser is whom an address or a cookie stands for.
type browser struct {
	tenant transport.Tenant
	owner  bool
}

// browsers makes addresses and cookies and knows them again.
type browsers struct {
	key   []byte
	spent transport.Store
	now   func() time.Time
}

// What a token is for: one is never taken for the other.
const (
	forAddress = "address"
	forCookie  = "cookie"
)

// makeToken makes one for somebody.
func (b *browsers) makeToken(what string, who browser, life time.Duration) string {
	says := strings.Join([]string{rand.Text(), strconv.FormatInt(b.now().Add(life).Unix(), 36), strconv.FormatBool(who.owner), string(who.tenant)}, ".")
	says = base64.RawURLEncoding.EncodeToString([]byte(says))
	return says + "." + b.signatureOf(what, says)
}

func (b *browsers) signatureOf(what, says string) string {
	h := hmac.New(sha256.New, b.key)
	h.Write([]byte(what + "\x00" + says))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// readToken returns whom a token stands for and until when.
func (b *browsers) readToken(what, token string) (who browser, until time.Time, ok bool) {
	says, signature, _ := strings.Cut(token, ".")
	if !hmac.Equal([]byte(signature), []byte(b.signatureOf(what, says))) {
		return browser{}, time.Time{}, false
	}
	text, err := base64.RawURLEncoding.DecodeString(says)
	fields := strings.SplitN(string(text), ".", 4)
	if err != nil || len(fields) != 4 {
		return browser{}, time.Time{}, false
	}
	seconds, err := strconv.ParseInt(fields[1], 36, 64)
	until = time.Unix(seconds, 0)
	return browser{owner: fields[2] == "true", tenant: transport.Tenant(fields[3])}, until, err == nil && !b.now().After(until)
}

// addressToken makes a token for an address.
func (b *browsers) addressToken(who browser) string { return b.makeToken(forAddress, who, addressLife) }

// spendAddress spends an address for a cookie.
func (b *browsers) spendAddress(ctx context.Context, token string) (cookie string, ok bool, err error) {
	who, until, ok := b.readToken(forAddress, token)
	if !ok {
		return "", false, nil
	}
	sum := sha256.Sum256([]byte(token))
	if ok, err = b.spent.Spend(ctx, hex.EncodeToString(sum[:]), until); !ok || err != nil {
		return "", false, err
	}
	return b.makeToken(forCookie, who, cookieLife), true, nil
}

// browserOf returns whom a request's cookie stands for. It ends with the key that
// its address was made with: a gateway that was given keys since, or other ones,
// does not know it.
func (g *Gateway) browserOf(r *http.Request) (browser, bool) {
	c, err := r.Cookie(cookieName)
	if err != nil {
		return browser{}, false
	}
	who, _, ok := g.browsers.readToken(forCookie, c.Value)
	if ok && g.keys != nil {
		ok = !who.owner && g.keyed[who.tenant]
	}
	return who, ok
}

// enterPath is where addresses lead.
const enterPath = "/winnow/enter/"

// OwnerAddress returns the path of an address that works once and shows what the
// owner of a gateway without keys may see. It is "" with keys, since then nobody is
// the owner: callers ask for an address of their own with POST /winnow/address.
func (g *Gateway) OwnerAddress() string {
	if g.keys != nil {
		return ""
	}
	return enterPath + g.browsers.addressToken(browser{owner: true})
}

// makeAddress answers with an address that works once, as text that nobody should
// keep. The caller has shown a key, a credential or that they are the owner.
func (g *Gateway) makeAddress(w http.ResponseWriter, r *http.Request) {
	if _, cookie := r.Context().Value(browserKey).(browser); cookie {
		g.refuseAndLog(w, r, http.StatusForbidden, "winnow: a browser's cookie cannot be used to make addresses; send the key")
		return
	}
	scheme := "http"
	if speaksTLS(r) {
		scheme = "https"
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(scheme + "://" + r.Host + enterPath + g.browsers.addressToken(browser{tenant: tenantOf(r), owner: g.isFromOwner(r)}) + "\n")) // the caller may be gone
}

// speaksTLS reports whether a caller speaks TLS, with the gateway or with a proxy
// before it. A caller that says so wrongly harms only its own cookie.
func speaksTLS(r *http.Request) bool {
	return r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"
}

// enterBrowser gives a browser its cookie. What the address was is nowhere afterwards.
func (g *Gateway) enterBrowser(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	if r.Method != http.MethodGet || r.Header.Get("Sec-Purpose") != "" || r.Header.Get("Purpose") != "" {
		refuse(w, http.StatusForbidden, "winnow: open this address yourself") // looked at ahead, it would be spent
		return
	}
	cookie, ok, err := g.browsers.spendAddress(r.Context(), r.PathValue("token"))
	if err != nil {
		g.opts.Log.Error("whether an address was used cannot be known", "error", err)
		refuse(w, http.StatusServiceUnavailable, "winnow: the gateway's store cannot be reached at this moment; open the address again")
		return
	}
	if !ok {
		g.metrics.denied.Add(1)
		refuse(w, http.StatusForbidden, "winnow: this address was already used or has expired; get another one with winnow address, or with POST /winnow/address and your key")
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: cookie, Path: "/winnow/", MaxAge: int(cookieLife / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: speaksTLS(r),
	})
	http.Redirect(w, r, "/winnow/", http.StatusSeeOther)
}
