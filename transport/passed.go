package transport

import (
	"errors"
	"net/http"
	"slices"
	"strings"
)

// Reason says why a request was sent as it came: no-conversation, no-messages, managed,
// own-summary, observing, off, too-large, too-large-to-unpack, too-many-messages,
// too-many-parts, content-coding, unreadable, cannot-fit or failed. The words are stable:
// they stand in the header [HeaderPassed], in the log and in metrics. Requests that
// merely fit are not passed: winnow looked at them and found nothing to do.
type Reason string

// The reasons. A request whose context the provider manages has the name of the
// member that says so behind becauseManaged: "managed: context_management".
const (
	becauseNoConversation Reason = "no-conversation" // a list of models, a file, an embedding
	becauseEmpty          Reason = "no-messages"     // a conversation without messages
	becauseManaged        Reason = "managed"         // the provider keeps or compacts the history
	becauseSummary        Reason = "own-summary"     // the agent asks for a summary of its own, and that fits
	becauseObserving      Reason = "observing"       // the transport only measures
	becauseOff            Reason = "off"             // its caller asked for that, see [HeaderOff]
	becauseTooLarge       Reason = "too-large"       // more bytes than Options.MaxBody
	becauseUnpacking      Reason = "too-large-to-unpack"
	becauseCrowded        Reason = "too-many-messages" // or too many values
	becauseParts          Reason = "too-many-parts"    // in one message
	becauseCoding         Reason = "content-coding"    // compressed in a way that is not known here
	becauseUnreadable     Reason = "unreadable"        // not the JSON that the dialect asks for
	becauseCannotFit      Reason = "cannot-fit"        // what must stay is larger than the window
	becauseFailed         Reason = "failed"            // a fault of our own; the log says which
)

// whyUnread returns the reason for a body that was not read.
func whyUnread(why error, packed bool) Reason {
	switch {
	case errors.Is(why, errCrowded):
		return becauseCrowded
	case errors.Is(why, errNoRoom), errors.Is(why, errTooLarge) && packed:
		return becauseUnpacking
	case errors.Is(why, errTooLarge):
		return becauseTooLarge
	case errors.Is(why, errCoding):
		return becauseCoding
	}
	return becauseUnreadable
}

// switchedOff reports whether a request's caller wants it sent as it is, and
// returns the request without the header that says so.
func switchedOff(req *http.Request) (*http.Request, bool) {
	values := req.Header.Values(HeaderOff)
	if len(values) == 0 {
		return req, false
	}
	off := slices.ContainsFunc(values, func(v string) bool {
		v = strings.ToLower(strings.TrimSpace(v))
		return v != "" && v != "0" && v != "false" && v != "no"
	})
	req = req.Clone(req.Context())
	req.Header.Del(HeaderOff)
	return req, off
}

// notePassed counts a request that was sent as it came and tells its caller why.
// more is put behind the reason in the header and the log; metrics have the
// reason alone.
func (t *Transport) notePassed(resp *http.Response, r Reason, more string) {
	t.tally(func(s *Stats) {
		if s.PassedBy == nil {
			s.PassedBy = make(map[Reason]int64)
		}
		s.PassedBy[r]++
	})
	if resp == nil {
		return
	}
	if resp.Header == nil {
		resp.Header = make(http.Header)
	}
	resp.Header.Set(HeaderPassed, r.with(more))
}

// with returns the reason with what it is about.
func (r Reason) with(more string) string {
	if more == "" {
		return string(r)
	}
	return string(r) + ": " + more
}
