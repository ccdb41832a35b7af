//go:build !linux

package sessiontest

import (
	"errors"
	"testing"
)

// FullDisk fills a real disk, on systems where that can be arranged.
func FullDisk(t *testing.T, _ Opener) { t.Skip("needs Linux") }

func fillLimited(Opener, string) error { return errors.ErrUnsupported }
