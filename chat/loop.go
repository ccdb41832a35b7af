package chat

// OpenLoop returns the assistant message with which the open tool loop at the
// sequence's end starts: the first one after the last message of a user that
// carries no results. A loop is open while the last message carries results,
// which the model has not answered yet. It returns -1 where there is none.
func OpenLoop(s Sequence) int {
	n := s.Len()
	for n > 0 && s.At(n-1).Role == System {
		n--
	}
	if n == 0 || !s.At(n-1).Has(ToolResult) {
		return -1
	}
	first := -1
	for i := n - 1; i >= 0; i-- {
		m := s.At(i)
		switch {
		case m.Role == User && !m.Has(ToolResult):
			return first
		case m.Role == Assistant && !m.Empty():
			first = i
		}
	}
	return first
}

// StartsWithThinking reports whether thinking is the message's first part, as
// the loop of a request with thinking switched on must have it.
func (m *Message) StartsWithThinking() bool {
	return len(m.Parts) > 0 && m.Parts[0].Kind == Thinking
}
