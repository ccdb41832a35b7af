// Package redact takes secrets out of what is stored: sessions, plans, and
// conversations that are kept for recall. It knows secrets by the forms in which
// well-known services issue them and by the names that people give them.
package redact

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// Redactor takes secrets out of messages. The zero value knows the forms in
// which well-known services issue their keys.
type Redactor struct {
	// Values are secrets by themselves: what a program knows to be one.
	Values []string

	// Patterns are further forms. Where one has a group, only that goes.
	Patterns []*regexp.Regexp
}

// form is how the keys of a service look.
type form struct {
	name string
	re   *regexp.Regexp

	// hints are words of which one stands in every text that has such a key,
	// in lower case. To look for them first is many times faster.
	hints []string
}

// The forms. They are what agents print most: .env files, the settings of cloud
// tools, "curl -v", CI logs. A prefix of a service's own is nearly never wrong. What
// has none (a bare AWS secret, a cookie, a signature) is known by what stands
// beside it.
var forms = []form{
	{"private key", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`), []string{"private key-----"}},
	{"private key", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----(?:\\[nr]|[A-Za-z0-9+/=\s])+`), []string{"private key-----"}},
	{"API key", regexp.MustCompile(`\bsk-(?:ant-|proj-|or-|svcacct-)?[A-Za-z0-9_-]{20,}`), []string{"sk-"}},
	{"GitHub token", regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})`), []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}},
	{"GitLab token", regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{18,}`), []string{"glpat-"}},
	{"AWS secret key", regexp.MustCompile(`(?i)secret[_ -]?(?:access[_ -]?)?key(?: ?\[[^\]]*\])?\\?["']?\s*[:=]\s*\\?["']?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+]|$)`), []string{"secret"}},
	{"AWS secret key", regexp.MustCompile(`\b(?:AKIA|ASIA)[A-Z0-9]{16}(?:[^A-Za-z0-9/+]{1,8}[A-Za-z_]{0,40}){0,3}[^A-Za-z0-9/+]{1,8}([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+]|$)`), []string{"akia", "asia"}},
	{"AWS secret key", regexp.MustCompile(`(?:^|[^A-Za-z0-9/+])([A-Za-z0-9/+]{40})[^A-Za-z0-9/+]{1,8}(?:AKIA|ASIA)[A-Z0-9]{16}\b`), []string{"akia", "asia"}},
	{"AWS key", regexp.MustCompile(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`), []string{"akia", "asia"}},
	{"Google key", regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{35}`), []string{"aiza"}},
	{"Slack token", regexp.MustCompile(`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`), []string{"xox"}},
	{"Stripe key", regexp.MustCompile(`\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}`), []string{"k_live_", "k_test_"}},
	{"Hugging Face token", regexp.MustCompile(`\bhf_[A-Za-z0-9]{30,}`), []string{"hf_"}},
	{"DigitalOcean token", regexp.MustCompile(`\bdo[opr]_v1_[a-f0-9]{40,}`), []string{"_v1_"}},
	{"model provider's key", regexp.MustCompile(`\b(?:gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{40,}|pplx-[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{30,}|tgp_v1_[A-Za-z0-9_-]{30,}|fw_[A-Za-z0-9]{20,}|csk-[a-z0-9]{40,})`), []string{"gsk_", "xai-", "pplx-", "r8_", "tgp_v1_", "fw_", "csk-"}},
	{"Google token", regexp.MustCompile(`\b(?:ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}|1//0[A-Za-z0-9_-]{30,})`), []string{"ya29.", "gocspx-", "1//0"}},
	{"Azure key", regexp.MustCompile(`(?i)\b(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2})`), []string{"accountkey=", "sharedaccesskey="}},
	{"signature in an address", regexp.MustCompile(`(?i)[?&](?:sig|x-amz-signature|x-goog-signature)=([A-Za-z0-9%+/_-]{20,}=*)`), []string{"sig=", "signature="}},
	{"package registry token", regexp.MustCompile(`\b(?:pypi-[A-Za-z0-9_-]{40,}|rubygems_[a-f0-9]{40,}|dckr_pat_[A-Za-z0-9_-]{20,}|oy2[a-z0-9]{43})`), []string{"pypi-", "rubygems_", "dckr_pat_", "oy2"}},
	{"cloud token", regexp.MustCompile(`\b(?:hv[sbr]\.[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40,}|dapi[a-f0-9]{32}(?:-[0-9])?|sbp_[a-f0-9]{40}|fm[12]_[A-Za-z0-9+/=]{40,}|HRKU-[A-Za-z0-9_-]{30,}|ops_eyJ[A-Za-z0-9_-]{40,})`), []string{"hvs.", "hvb.", "hvr.", ".atlasv1.", "dapi", "sbp_", "fm1_", "fm2_", "hrku-", "ops_eyj"}},
	{"service token", regexp.MustCompile(`\b(?:SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{30,}|sh(?:pat|pss|pca|ppa)_[a-fA-F0-9]{32}|sq0[a-z]{3}-[A-Za-z0-9_-]{22,}|lin_api_[A-Za-z0-9]{32,}|ntn_[A-Za-z0-9]{40,}|ATATT3[A-Za-z0-9_=-]{40,}|gls?[ac]_[A-Za-z0-9_=]{30,}|NRAK-[A-Z0-9]{27}|sntry[su]_[A-Za-z0-9_=+/-]{40,}|PMAK-[a-f0-9]{24}-[a-f0-9]{34}|xapp-[0-9]-[A-Za-z0-9-]{30,}|whsec_[A-Za-z0-9+/=]{24,}|figd_[A-Za-z0-9_-]{30,}|dp\.(?:pt|st|ct)\.[A-Za-z0-9.]{30,})`), []string{"sg.", "shpat_", "shpss_", "shpca_", "shppa_", "sq0", "lin_api_", "ntn_", "atatt3", "gla_", "glc_", "glsa_", "glsc_", "nrak-", "sntrys_", "sntryu_", "pmak-", "xapp-", "whsec_", "figd_", "dp.pt.", "dp.st.", "dp.ct."}},
	{"Twilio key", regexp.MustCompile(`\bSK[0-9a-f]{32}\b`), []string{"twilio", "sk0", "sk1", "sk2", "sk3", "sk4", "sk5", "sk6", "sk7", "sk8", "sk9"}},
	{"Mailgun key", regexp.MustCompile(`\bkey-[0-9a-f]{32}\b`), []string{"mailgun", "=key-", ": key-", "\"key-", "'key-", " key-"}},
	{"Telegram token", regexp.MustCompile(`\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b`), []string{":aa"}},
	{"Discord token", regexp.MustCompile(`\b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}`), []string{"discord", "bot", "token"}},
	{"web hook", regexp.MustCompile(`https://(?:hooks\.slack\.com/(?:services|workflows)|discord(?:app)?\.com/api/webhooks|[a-z0-9-]+\.webhook\.office\.com/webhookb2)/([A-Za-z0-9_/@-]{20,})`), []string{"hooks.slack.com", "/api/webhooks", "webhook.office.com"}},
	{"age key", regexp.MustCompile(`\bAGE-SECRET-KEY-1[A-Z0-9]{50,}`), []string{"age-secret-key-"}},
	{"basic credentials", regexp.MustCompile(`(?i)\bbasic\s+([A-Za-z0-9+/]{16,}={0,2})(?:[^A-Za-z0-9+/=]|$)`), []string{"basic "}},
	{"session cookie", regexp.MustCompile(`(?i)\b(?:set-)?cookie\\?["']?\s*[:=]\s*\\?["']?[^\n"']{0,200}?\b(?:session|sessionid|sid|auth|token|jwt)[a-z0-9_.-]*=([A-Za-z0-9%._~+/-]{16,})`), []string{"cookie"}},
	{"npm token", regexp.MustCompile(`\bnpm_[A-Za-z0-9]{30,}`), []string{"npm_"}},
	{"token", regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`), []string{"eyj"}},
	{"bearer token", regexp.MustCompile(`(?i)\bbearer\s+([A-Za-z0-9._~+/-]{20,}=*)`), []string{"bearer"}},
	{"password in an address", regexp.MustCompile(`\b[a-z][a-z0-9+.-]*://[^\s:/@"'\\]+:([^\s:/@"'\\]{3,})@`), []string{"://"}},
	{"secret", regexp.MustCompile(`(?i)\b(?:[a-z0-9_-]*(?:password|passwd|secret|api[_-]?key|access[_-]?token|auth[_-]?token))\\?["']?\s*[:=]\s*\\?["']?([^\s"'\\,;)}\]]{8,})`), []string{"passw", "secret", "key", "token"}},
}

// Text returns a text without secrets, and how many there were. What is put in
// their place says what it was and can stand inside a JSON string.
func (r *Redactor) Text(s string) (string, int) {
	n := 0
	for _, v := range r.Values {
		if v != "" && strings.Contains(s, v) {
			n += strings.Count(s, v)
			s = strings.ReplaceAll(s, v, redactionMark("secret"))
		}
	}
	lower := strings.ToLower(s)
	for i := range forms {
		f := &forms[i]
		if slices.ContainsFunc(f.hints, func(hint string) bool { return strings.Contains(lower, hint) }) {
			s, n = replaceMatches(s, n, f.name, f.re)
		}
	}
	for _, re := range r.Patterns {
		s, n = replaceMatches(s, n, "secret", re)
	}
	return s, n
}

func redactionMark(what string) string { return fmt.Sprintf("[redacted: %s]", what) }

// replaceMatches puts a mark in place of every match, or of its group.
func replaceMatches(s string, n int, name string, re *regexp.Regexp) (string, int) {
	all := re.FindAllStringSubmatchIndex(s, -1)
	if all == nil {
		return s, n
	}
	var b strings.Builder
	at := 0
	for _, m := range all {
		from, to := m[0], m[1]
		if len(m) > 2 && m[2] >= 0 {
			from, to = m[2], m[3]
		}
		if strings.HasPrefix(s[from:to], "[redacted") || from == to {
			continue
		}
		b.WriteString(s[at:from])
		b.WriteString(redactionMark(name))
		at = to
		n++
	}
	b.WriteString(s[at:])
	return b.String(), n
}

// Message returns a message without secrets. A signed part that holds one is
// taken out whole, because it is valid only as it is.
func (r *Redactor) Message(m chat.Message) chat.Message {
	parts, changed := r.redactParts(m.Parts)
	if !changed {
		return m
	}
	if len(parts) == 0 {
		parts = []chat.Part{{Kind: chat.Text, Text: redactionMark("a signed part with a secret")}}
	}
	m.Parts, m.Wire = parts, 0
	return m
}

func (r *Redactor) redactParts(parts []chat.Part) ([]chat.Part, bool) {
	changed := false
	out := make([]chat.Part, 0, len(parts))
	for _, p := range parts {
		found := 0
		for _, s := range []*string{&p.Text, &p.Args} {
			t, n := r.Text(*s)
			*s = t
			found += n
		}
		switch {
		case p.Kind == chat.Opaque || p.Kind == chat.Document && strings.Contains(p.Data, " "):
			t, n := r.Text(p.Data)
			p.Data = t
			found += n
		case p.Kind == chat.Document:
			t, n := r.redactEncoded(p.Data)
			p.Data = t
			found += n
		}
		if content, inner := r.redactParts(p.Content); inner {
			p.Content = content
			found++
		}
		changed = changed || found > 0
		if found > 0 && (p.Signature != "" || p.Kind == chat.Opaque) {
			if p.Kind != chat.ToolCall {
				continue
			}
			p.Signature = ""
		}
		out = append(out, p)
	}
	return out, changed
}

// Record returns a record without secrets in any of its texts, for records that
// are copied from elsewhere; the same one where there are none. Thinking that is
// signed and held one keeps its signature, which no longer fits it.
func (r *Redactor) Record(raw []byte) []byte {
	var out []byte
	done := 0
	d := jsontext.NewDecoder(bytes.NewReader(raw), decode.Tolerant()...)
	for {
		kind := d.PeekKind()
		if kind == 0 {
			break
		}
		if kind != '"' {
			if _, err := d.ReadToken(); err != nil {
				break
			}
			continue
		}
		v, err := d.ReadValue()
		if err != nil {
			break
		}
		end := int(d.InputOffset())
		text, _ := decode.String(v)
		clean, n := r.Text(text)
		if n == 0 {
			clean, n = r.redactEncoded(text)
		}
		if n == 0 {
			continue
		}
		out = append(out, raw[done:end-len(v)]...)
		out, _ = jsontext.AppendQuote(out, clean) // it was a text before
		done = end
	}
	if done == 0 {
		return raw
	}
	return append(out, raw[done:]...)
}
