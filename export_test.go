package winnow

import "github.com/winnow-llm/winnow/chat"

// Request returns the request as it stands, without any plan.
func (c *Conversation) Request() chat.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.req
}
