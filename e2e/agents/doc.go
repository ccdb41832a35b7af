// Package agents lets real coding agents work through winnow, for several
// windows, and looks at what became of their work. It has tests only.
//
// The agents are installed from their npm packages, in the versions that
// agents_test.go names. The provider is "winnow sim --drive": an honest model
// that makes the agent run commands by its own shell tool, repeats a command
// whose result it cannot see, and needs facts from early results much later.
//
// Each run must end, without one request refused, without a part repeated,
// without a compaction of the agent's own, with every answer as the provider sent
// it, and with the agent's key in no log and no store. The same work without
// winnow must fail, or the agent must have compacted by itself.
//
// By default two agents are run, shortly. WINNOW_AGENTS=all runs all of them and
// prints a table; WINNOW_AGENTS=pi,codex those. WINNOW_WINDOWS=60000,80000 sets the
// windows. The script run does that.
package agents
