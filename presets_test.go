package winnow_test

import (
	"errors"
	"testing"

	"github.com/winnow-llm/winnow"
)

func TestPresetsAreValid(t *testing.T) {
	for _, name := range winnow.PresetNames() {
		s, err := winnow.Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := winnow.New(&winnow.Options{Settings: s}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		s.Stages[0] = "changed"
		if again, _ := winnow.Preset(name); again.Stages[0] == "changed" {
			t.Errorf("%s: a caller changed the preset for everybody", name)
		}
	}
	_, err := winnow.Preset("boldest")
	var e *winnow.SettingsError
	if !errors.As(err, &e) || e.Field != "preset" {
		t.Errorf("an unknown preset: %v", err)
	}
}
