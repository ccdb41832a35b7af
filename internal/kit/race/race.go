// Package race tells tests whether the race detector slows them down and takes
// memory of its own.
package race
