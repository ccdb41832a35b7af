package plan

// Sealed returns how many messages of the view belong to the sealed part.
func (v View) Sealed() int {
	if v.p == nil {
		return 0
	}
	return len(v.head.msgs)
}
