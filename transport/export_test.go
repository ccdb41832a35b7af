package transport

import (
	"net/http"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/planstore"
)

// Preparing returns how many summaries are being written in the background.
func (t *Transport) Preparing() int { return len(t.background.slots) }

// Newest returns what is known of the conversation that was seen last.
func (t *Transport) Newest() *winnow.Track {
	t.memory.mu.Lock()
	defer t.memory.mu.Unlock()
	return t.memory.all[len(t.memory.all)-1].track
}

// Tenant returns whose a request is.
func (t *Transport) Tenant(r *http.Request) planstore.Tenant { return t.opts.Tenant(r) }
