//go:build unix

package console

import (
	"os"
	"os/signal"
	"syscall"
)

// watchSize calls f when the terminal has another size, until the function
// returned is called.
func watchSize(f func()) func() {
	signals := make(chan os.Signal, 1)
	done := make(chan struct{})
	signal.Notify(signals, syscall.SIGWINCH)
	go func() {
		for {
			select {
			case <-signals:
				f()
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

// stopSelf stops the program until a shell continues it.
func stopSelf() { _ = syscall.Kill(0, syscall.SIGTSTP) }
