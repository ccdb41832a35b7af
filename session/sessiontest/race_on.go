//go:build race

package sessiontest

// raceDetector says that the race detector slows everything down, so that times
// are only told.
const raceDetector = true
