//go:build !unix

package console

import "os"

// stopSelf does nothing where programs cannot be stopped.
func stopSelf() {}

// typedAhead is not known here.
func typedAhead(*os.File) []string { return nil }
