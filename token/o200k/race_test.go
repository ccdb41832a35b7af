//go:build race

package o200k

// race says that tests run under the race detector, which is slow.
const race = true
