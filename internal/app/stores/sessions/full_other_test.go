//go:build !linux

package sessions_test

import (
	"errors"
	"testing"
)

// testFullDisk fills a real disk, on systems where that can be arranged.
func testFullDisk(t *testing.T, _ opener) { t.Skip("needs Linux") }

func fillLimited(opener, string) error { return errors.ErrUnsupported }
