package session

// SetHeld sets from which size on a log is read in pieces, and of how many bytes, and
// returns what puts back the sizes that were.
func SetHeld(held int64, piece int) (restore func()) {
	wasHeld, wasPiece := heldBytes, pieceBytes
	heldBytes, pieceBytes = held, piece
	return func() { heldBytes, pieceBytes = wasHeld, wasPiece }
}
