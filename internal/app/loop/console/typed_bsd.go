//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package console

// howMany asks a terminal how many bytes wait to be read: FIONREAD, which the
// system package does not name everywhere.
const howMany = 0x4004667f
