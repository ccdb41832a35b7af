package transport

// Preparing returns how many summaries are being written in the background.
func (t *Transport) Preparing() int { return len(t.background.slots) }
