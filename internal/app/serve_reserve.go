package app

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/winnow-llm/winnow/model"
)

// registryWith returns the registry in which models reserve at most the flags'
// tokens of their window for the answer: "TOKENS" for all models, or "MODEL=TOKENS"
// for one. What the setting models_file says of models stays.
func (l *loaded) registryWith(reserves []string) (*model.Registry, error) {
	if len(reserves) == 0 {
		return l.modelRegistry()
	}
	if _, err := l.modelRegistry(); err != nil {
		return nil, err
	}
	file := struct {
		Models map[string]map[string]any `json:"models"`
	}{map[string]map[string]any{}}
	if l.ModelsFile != "" {
		data, err := os.ReadFile(l.ModelsFile)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, &file); err != nil {
			return nil, fmt.Errorf("%s: %w", l.ModelsFile, err)
		}
	}
	for _, text := range reserves {
		name, tokens, ok := strings.Cut(text, "=")
		if !ok {
			name, tokens = "*", text
		}
		n, err := parseTokens(tokens)
		if err != nil || n <= 0 || name == "" {
			return nil, usageErrorf("--output-reserve %s: write TOKENS, or MODEL=TOKENS, for example gpt-5=16000", text)
		}
		if file.Models[name] == nil {
			file.Models[name] = map[string]any{}
		}
		file.Models[name]["output"] = n
		for _, one := range file.Models {
			// A pattern says nothing about models that have an entry of their own.
			if _, set := one["output"]; name == "*" && !set {
				one["output"] = n
			}
		}
	}
	data, err := json.Marshal(file)
	if err != nil {
		return nil, err
	}
	return model.Default().WithOverrides(data)
}
