package controlhttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/winnow-llm/winnow/control"
)

// still is how often a reader of events hears that the connection stands.
const still = 15 * time.Second

// streamEvents sends what happens to a conversation.
func (s server) streamEvents(w http.ResponseWriter, r *http.Request) {
	source, id := s.of(r), r.PathValue("id")
	since := int64(-1)
	for _, text := range []string{r.URL.Query().Get("since"), r.Header.Get("Last-Event-ID")} { // the second is newer
		if text == "" {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			Refuse(w, http.StatusBadRequest, "winnow: "+strconv.Quote(text)+" is not the id of an event")
			return
		}
		since = n
	}
	d, err := source.Conversation(r.Context(), id)
	if err != nil {
		replyOrRefuse(w, nil, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // proxies should not wait for more
	w.WriteHeader(http.StatusOK)
	out := stream{w: w, flush: http.NewResponseController(w)}
	if since < 0 {
		since = d.Revision
		if out.send(d.Revision, "conversation", d.Conversation) != nil {
			return
		}
	}
	for r.Context().Err() == nil {
		ctx, stop := context.WithTimeout(r.Context(), still)
		ch, err := source.Since(ctx, id, since)
		stop()
		switch {
		case errors.Is(err, context.DeadlineExceeded) && r.Context().Err() == nil:
			err = out.write(": still here\n\n")
		case err == nil:
			err = out.sendChange(ch)
			since = ch.Revision
		}
		if err != nil {
			return // it is gone, or the reader is
		}
	}
}

// stream is a stream of events.
type stream struct {
	w     http.ResponseWriter
	flush *http.ResponseController
}

func (s *stream) sendChange(ch *control.Change) error {
	if ch.Missed {
		if err := s.write("event: missed\ndata: {}\n\n"); err != nil {
			return err
		}
	}
	for i := range ch.Requests {
		if err := s.send(ch.Requests[i].Revision, "request", &ch.Requests[i]); err != nil {
			return err
		}
	}
	return s.send(ch.Revision, "conversation", &ch.Conversation)
}

func (s *stream) send(id int64, event string, doc any) error {
	data, err := json.Marshal(doc) // on one line
	if err != nil {
		return err
	}
	return s.write(fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", id, event, data))
}

func (s *stream) write(text string) error {
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.flush.Flush()
}
