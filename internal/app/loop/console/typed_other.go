//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package console

// typedAhead is not known here.
func typedAhead(uintptr) int { return 0 }
