// Package longrun keeps what takes long out of go test ./..., which anybody runs, and
// leaves it to .ci/run: whole tests, and the large numbers of tests that also mean
// something with small ones.
package longrun

import (
	"os"
	"testing"
)

// variable asks for all of it. Any value will do.
const variable = "WINNOW_LONG"

// Asked reports whether somebody has asked for what takes long.
func Asked() bool { return os.Getenv(variable) != "" }

// Only skips a test unless somebody has, and says why it waits for that.
func Only(t testing.TB, why string) {
	t.Helper()
	if !Asked() {
		t.Skip(why + "; " + variable + "=1 runs it")
	}
}
