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

// checkView returns a checker that has seen the view, where calls at its end may wait
// for results, or nil if the view breaks a rule.
func (c *checks) checkView(v plan.View, rules chat.Rules) *chat.Checker {
	key := checkKey{rules.OrDefault(), v.Key()}
	if k, ok := c.known.Get(v.History(), key); ok {
		return k
	}
	checker := chat.NewChecker(rules)
	if k, from := c.known.Nearest(v, key, (*chat.Checker).Len); from > 0 {
		checker = k.Clone()
	}
	for i := checker.Len(); i < v.Len(); i++ {
		if len(checker.Next(v.At(i))) > 0 {
			return nil
		}
	}
	if len(checker.Missing()) > 0 {
		return nil
	}
	c.known.Put(v.History(), key, checker)
	return checker
}
