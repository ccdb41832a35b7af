//go:build !race

package sessiontest

const raceDetector = false
