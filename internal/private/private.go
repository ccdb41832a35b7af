// Package private makes files that hold conversations readable by their owner
// alone, whatever the umask says.
//
// [Create] makes such a file; [Tighten] takes the permissions of others away
// from one that an earlier version, a copy or another program made.
package private

import (
	"errors"
	"io/fs"
	"os"
)

// Create makes an empty file that its owner alone can read and write. A file
// that is there already stays as it is.
func Create(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// Tighten takes the permissions of everybody but the owner away from files, of
// which those that are not there are passed over. The error names each file that
// others can still read or write, and why.
func Tighten(paths ...string) error {
	var errs []error
	for _, path := range paths {
		errs = append(errs, tighten(path, os.Geteuid()))
	}
	return errors.Join(errs...)
}
