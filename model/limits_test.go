package model

// Limits are the three numbers that bound a request; zero is unknown.
type Limits struct{ Context, Input, Output int }

// Limits returns the model's limits.
func (m Model) Limits() Limits { return Limits{m.Context, m.Input, m.Output} }
