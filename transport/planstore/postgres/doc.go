// Package postgres keeps plans in PostgreSQL: the memory that several gateways
// share. Call [Open].
//
// What the database promises here:
//
//   - A plan is there for every gateway when Put or Replace returns nil, and
//     stays there when the database or the gateway is killed.
//   - Lookups ask the database each time. Nothing is remembered here, because
//     another gateway may have written a moment ago.
//   - Marks are gathered and written together every tenth of a second, so that
//     a request does not wait for them. A gateway that is killed loses those
//     of that moment, and its next request is counted by estimate.
//   - When plans were used is kept roughly, to an eighth of their age and an
//     hour at most: what every request touches is not a row.
//   - Times are the database's, so that it does not matter whether the clocks
//     of the gateways agree.
//
// While the database is gone, calls fail at once with an error that wraps
// [planstore.ErrGone].
//
// The package is apart from transport so that a program whose plans are kept in
// memory links no database.
package postgres
