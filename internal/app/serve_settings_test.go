package app

import (
	"github.com/winnow-llm/winnow/internal/work"
	"testing"
)

// The settings tools and auto_compact reach the gateway as they do the commands.
func TestSettingsInGateway(t *testing.T) {
	home := isolate(t)
	a := testApp()
	a.config = lay(t, "auto_compact: false\ntools:\n  read_file: other\n", home, "tools.yaml")
	f := serveFlags{store: "memory", age: 1, memory: 64, upstreams: []string{"openai=http://127.0.0.1:1"}}
	o, store, err := f.options(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if k := o.Transport.Kinds; k.Of("read_file") != work.ToolOther || k.Of("write_file") != work.ToolWrite {
		t.Errorf("read_file is %s, write_file %s", k.Of("read_file"), k.Of("write_file"))
	}
	if !o.Transport.Settings.Disabled {
		t.Error("auto_compact: false, and the gateway compacts")
	}
	a.config = lay(t, "window: 9000\n", home, "plain.yaml")
	if o, store, err = f.options(t.Context(), a); err != nil || o.Transport.Kinds != nil || o.Transport.Settings.Disabled {
		t.Errorf("nothing is set: %v, %v, %v", o.Transport.Kinds, o.Transport.Settings.Disabled, err)
	}
	store.Close()
}
