package winnow

import (
	"maps"
	"slices"

	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/internal/work"
)

// Status is how full a request is: Tokens by what they are spent on, Count with its
// band, Bytes, Images, the Limits, Ratio, ShouldCompact and Fits. Its method Due says
// from how many tokens on a compaction is due, and why.
type Status = budget.Status

// Limits are what a model can take: Context, Input, the Reserve for the answer, and
// the Available input that is left; Fixed is what no message shows of it, and Room
// the rest.
type Limits = budget.Limits

// ToolKinds says what tools do, by their names: see [NewToolKinds].
type ToolKinds = work.Kinds

// NewToolKinds returns the built-in table with tools of your own in it, each name with
// what that tool does: read, write, edit, delete, search, shell or other. The error is
// a [*SettingsError].
func NewToolKinds(tools map[string]string) (*ToolKinds, error) {
	kinds := make(map[string]work.Tool, len(tools))
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		kind, ok := work.ParseTool(tools[name])
		if !ok {
			return nil, &SettingsError{"tools." + name, tools[name], "this is not a kind of tool; there are read, write, edit, delete, search, shell and other"}
		}
		kinds[name] = kind
	}
	return work.DefaultKinds().With(kinds), nil
}
