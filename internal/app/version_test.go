package app

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// A program that somebody reports about says what it was built from.
func TestVersionNamesTheBuild(t *testing.T) {
	stamped := &debug.BuildInfo{
		Main:     debug.Module{Version: "v1.2.3"},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.modified", Value: "true"}},
	}
	for _, c := range []struct {
		release, commit string
		info            *debug.BuildInfo
		want            string
	}{
		{"", "", stamped, "winnow v1.2.3 (revision 0123456789ab, modified, " + runtime.Version()},
		{"v2.0.0", "", stamped, "winnow v2.0.0 (revision 0123456789ab, modified, " + runtime.Version()},
		{"", "", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "winnow development (" + runtime.Version()},
		{"v2.0.0", "fedcba9876543210", &debug.BuildInfo{}, "winnow v2.0.0 (revision fedcba987654, " + runtime.Version()},
		{"", "", nil, "winnow development (" + runtime.Version()},
	} {
		if got := buildOf(c.release, c.commit, c.info).String(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q is not %q", got, c.want)
		}
	}
}
