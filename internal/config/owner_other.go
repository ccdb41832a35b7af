//go:build !unix

package config

// notOurs lets every file in: this system's files do not tell their owner as a
// number.
func notOurs(string, int) string { return "" }
