package config

import "slices"

// Group is settings that answer one question.
type Group struct {
	Question string
	Keys     []string
}

// Groups are all settings by the question that they answer, in the order in which
// they are printed and documented. The first have no question: most people need no
// others. The last group is for those who come from another system.
var Groups = []Group{
	{"", []string{"model", "window", "preset", "threshold", "target"}},
	{"When is a conversation cut?", []string{"auto_compact", "threshold_tokens", "economy", "commit_floor"}},
	{"What does the model take?", []string{"output_reserve", "max_bytes", "max_images", "exact", "models_file", "models"}},
	{"What stays?", []string{"keep_recent", "tools"}},
	{"Who writes summaries?", []string{"summarize", "summarizer", "summarizer_url", "summarizer_timeout", "sequential", "focus"}},
	{"How does the model get originals back?", []string{"recall_tool"}},
	{"What is stored, and for how long?", []string{"store", "memory", "keep", "redact"}},
	{"What else runs?", []string{"hooks", "trust_project"}},
	{"Settings of other systems", []string{"systems"}},
}

// QuestionOf returns the question that a setting answers.
func QuestionOf(key string) string {
	i := slices.IndexFunc(Groups, func(g Group) bool { return slices.Contains(g.Keys, keyGroup(key)) })
	return Groups[i].Question
}

const (
	standard = "the default serves every model; take it out"
	inModels = "write it into the models_file, for the model that it is about"
	oneName  = "write summarizer: PROVIDER/MODEL"
)

// instead says what to write in place of keys that were settings. Those of the group
// systems once stood outside of it.
var instead = map[string]string{
	"disabled":      "write auto_compact: false",
	"quality_limit": "write threshold_tokens",
	"max_tokens":    "write output_reserve",
	"input_limit":   inModels + ", as input", "output_limit": inModels + ", as output",
	"read_price": inModels + ", as prices.cache_read", "write_price": inModels + ", as prices.cache_write",
	"output_price": inModels + ", as prices.output", "cache_lifetime": inModels + ", as cache.lifetime_seconds",
	"summarizer_provider": oneName, "summarizer_model": oneName,
	"recent_share":    "a keep_recent that is set is kept whole; take it out",
	"recent_messages": "four stay where systems.recent_ratio is set; write keep_recent for more",
	"snap":            "a cut moves to the start of its turn where that is near, except under the presets pi and operator-use; take it out",
	"overflow_target": standard, "supersede_min": standard, "skeleton_max": standard,
	"summary_share": standard, "fold_share": standard, "summary_max": standard, "user_share": standard,
}
