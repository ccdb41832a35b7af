package postgres

import "github.com/winnow-llm/winnow/internal/planstore"

var _ planstore.Metered = (*store)(nil)

// Metrics implements [planstore.Metered].
func (s *store) Metrics() []planstore.Metric {
	d := s.db.State()
	gone := 0.0
	if d.Gone {
		gone = 1
	}
	late := s.Late()
	return []planstore.Metric{
		{Name: "winnow_store_gone", Help: "1 while the database is unreachable.", Kind: "gauge", Value: gone},
		{Name: "winnow_store_lost_total", Help: "Times that the database became unreachable.", Kind: "counter", Value: float64(d.Lost)},
		{Name: "winnow_store_refused_total", Help: "Calls that failed at once because the database was unreachable.", Kind: "counter", Value: float64(d.Refused)},
		{Name: "winnow_store_connections", Help: "Connections to the database.", Kind: "gauge", Value: float64(d.Open)},
		{Name: "winnow_store_connections_busy", Help: "Connections in use.", Kind: "gauge", Value: float64(d.Busy)},
		{Name: "winnow_store_connections_max", Help: "Most connections.", Kind: "gauge", Value: float64(d.Most)},
		{Name: "winnow_store_connections_made_total", Help: "Connections that were made.", Kind: "counter", Value: float64(d.Connected)},
		{Name: "winnow_store_waits_total", Help: "Calls that waited for a connection.", Kind: "counter", Value: float64(d.Waits)},
		{Name: "winnow_store_wait_seconds_total", Help: "Time waited for connections.", Kind: "counter", Value: d.Waited.Seconds()},
		{Name: "winnow_store_marks_waiting", Help: "Marks that are not yet written.", Kind: "gauge", Value: float64(late.Waiting)},
		{Name: "winnow_store_marks_lost_total", Help: "Marks dropped because the database was unreachable for too long.", Kind: "counter", Value: float64(late.Lost)},
		{Name: "winnow_store_marks_written_total", Help: "Marks that were written.", Kind: "counter", Value: float64(late.Written)},
		{Name: "winnow_store_mark_writes_total", Help: "Transactions that wrote marks.", Kind: "counter", Value: float64(late.Writes)},
	}
}
