package pg

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// isUnreachable reports whether an error says that nothing can be done with the
// database, whatever the statement.
func isUnreachable(err error) bool {
	if said, ok := errors.AsType[*pgconn.PgError](err); ok { // connections, shutting down, too many, who are you
		return strings.HasPrefix(said.Code, "08") || strings.HasPrefix(said.Code, "57P") || said.Code == "53300" || strings.HasPrefix(said.Code, "28")
	}
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	_, network := errors.AsType[net.Error](err)
	return connecting || network || pgconn.SafeToRetry(err) || isBroken(err)
}

// isBroken reports whether a connection ended under a statement.
func isBroken(err error) bool {
	text := err.Error()
	return strings.Contains(text, "unexpected EOF") || strings.Contains(text, "conn closed") || strings.Contains(text, "closed pool")
}

// Reason says in a few words why a statement failed, without addresses; "" where
// the error is of no known kind.
func Reason(err error) string {
	if err == nil {
		return ""
	}
	if said, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch {
		case said.Code == "53100":
			return "the database's disk is full"
		case said.Code == "53300":
			return "the database has no connection left"
		case said.Code == "25006":
			return "the database is read-only: it is not the primary"
		case said.Code == "42501":
			return "the database does not allow it"
		case strings.HasPrefix(said.Code, "28"):
			return "the database refuses the user or the password"
		case strings.HasPrefix(said.Code, "57P"):
			return "the database is starting or shutting down"
		case said.Code == "3D000":
			return "there is no such database"
		}
	}
	if errors.Is(err, ErrGone) || isUnreachable(err) {
		return "the database cannot be reached"
	}
	return ""
}

// reasonOf is why a database is gone, in one line, for logs.
func reasonOf(err error) string {
	if said, ok := errors.AsType[*pgconn.PgError](err); ok {
		return said.Message + " (" + said.Code + ")"
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "it did not answer in time"
	}
	text, _, _ := strings.Cut(textWithoutURL(err), "\n")
	return text
}
