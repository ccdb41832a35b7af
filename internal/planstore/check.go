package planstore

import (
	"errors"
	"io/fs"
	"syscall"
)

// Metered is what a store can do that counts things for people: one in a database
// that may be gone.
type Metered interface {
	Metrics() []Metric
}

// Metric is one number, as Prometheus has them: Kind is counter or gauge.
type Metric struct {
	Name, Help, Kind string
	Value            float64
}

// Reason says in a few words why a store failed, without paths and other texts
// that are nobody's business; "" where the error is of no known kind. A store
// whose errors are not those of the system gives them a method Reason.
func Reason(err error) string {
	var own interface{ Reason() string }
	if errors.As(err, &own) {
		if why := own.Reason(); why != "" {
			return why
		}
	}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "the disk is full"
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS):
		return "it may not be written to"
	}
	return ""
}
