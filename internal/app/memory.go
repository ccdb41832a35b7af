package app

import (
	"os"
	"runtime/debug"

	fileinput "github.com/winnow-llm/winnow/internal/input"
)

// leastRoom is what a process may always take.
const leastRoom = 640 << 20

// makeRoom has the garbage of reading a large file collected before the process
// has taken twice the file's size. By default Go lets garbage grow to the size of
// what is in use. GOMEMLIMIT takes precedence.
func makeRoom(path string) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() < fileinput.Large || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	const program = 48 << 20 // its own code and stacks
	debug.SetMemoryLimit(max(leastRoom, 2*info.Size()) - program)
}
