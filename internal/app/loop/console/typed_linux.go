package console

import "golang.org/x/sys/unix"

// howMany asks a terminal how many bytes wait to be read.
const howMany = unix.TIOCINQ
