package planstore

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
)

// Checker is what a store can do that knows whether it keeps plans: reading
// alone does not tell, because a full disk can be read.
type Checker interface {
	// Check writes something of a plan's size, as durably as [Store.Put] does.
	// It returns why that fails; [Reason] says it for people.
	Check(ctx context.Context) error
}

// Kinder is what a store can do that says where it keeps plans, in one word
// for people: memory, file.
type Kinder interface {
	Kind() string
}

// Metered is what a store can do that counts things for people.
type Metered interface {
	Metrics() []Metric
}

// Metric is one number, as Prometheus has them: Kind is counter or gauge.
type Metric struct {
	Name, Help, Kind string
	Value            float64
}

var (
	_ Checker = (*Memory)(nil)
	_ Kinder  = (*Memory)(nil)
)

// Check implements [Checker]: memory takes what its bounds allow.
func (m *Memory) Check(context.Context) error { return nil }

// Kind implements [Kinder].
func (m *Memory) Kind() string { return "memory" }

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
