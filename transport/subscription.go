package transport

import (
	"net/http"
	"strings"
)

// subscribed reports whether a request is paid by a subscription and not by the
// token: Claude Code signs in with a token of OAuth's, Codex with a ChatGPT account.
func subscribed(h http.Header) bool {
	return strings.HasPrefix(h.Get("Authorization"), "Bearer sk-ant-oat") || h.Get("ChatGPT-Account-ID") != ""
}
