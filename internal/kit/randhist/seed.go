package randhist

import (
	"os"
	"strconv"
)

// FirstSeed is where the seeds of properties start: WINNOW_SEED, by default 0, so
// that every run looks at the same. Another one looks at what nobody has looked at.
var FirstSeed = func() uint64 {
	n, _ := strconv.ParseUint(os.Getenv("WINNOW_SEED"), 10, 64) // anything but a number is 0
	return n
}()
