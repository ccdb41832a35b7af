package winnow

import (
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/plan"
)

// checks remembers which views obey their rules, so that checking again after
// one appended message costs one message.
type checks struct {
	known budget.Memory[checkKey, *chat.Checker]
}

type checkKey struct {
	rules chat.Rules
	plan  string
}

// obeysRules reports whether the view obeys the rules, calls at its end that wait
// for results aside.
func (c *checks) obeysRules(v plan.View, rules chat.Rules) bool {
	key := checkKey{rules.OrDefault(), v.Key()}
	if _, ok := c.known.Get(v.History(), key); ok {
		return true
	}
	checker := chat.NewChecker(rules)
	if k, from := c.known.Nearest(v, key, (*chat.Checker).Len); from > 0 {
		checker = k.Clone()
	}
	for i := checker.Len(); i < v.Len(); i++ {
		if len(checker.Next(v.At(i))) > 0 {
			return false
		}
	}
	if len(checker.Missing()) > 0 {
		return false
	}
	c.known.Put(v.History(), key, checker)
	return true
}

// awaitsResults reports whether calls at the end of the view wait for their results.
func awaitsResults(v plan.View, rules chat.Rules) bool {
	c := chat.NewChecker(rules)
	for i := range v.Len() {
		c.Next(v.At(i))
	}
	return len(c.Pending()) > 0
}
