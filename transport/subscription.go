package transport

import (
	"net/http"
	"strings"
)

// paidBySubscription reports whether a request is paid by a subscription and not by the
// token: Claude Code signs in with a token of OAuth's, Codex with a ChatGPT account,
// Gemini CLI with a Google account.
func paidBySubscription(r *http.Request) bool {
	h := r.Header
	return strings.Contains(r.URL.Path, codeAssist) || strings.HasPrefix(h.Get("Authorization"), "Bearer sk-ant-oat") || h.Get("ChatGPT-Account-ID") != ""
}
