//go:build !unix

package private

// tighten does nothing: permissions are not bits of a mode here.
func tighten(string, int) error { return nil }
