//go:build !unix

package console

// watchSize does nothing: the size is asked for when the console is opened.
func watchSize(func()) func() { return func() {} }

// stopSelf does nothing where programs cannot be stopped.
func stopSelf() {}
