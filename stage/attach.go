package stage

import "slices"

// Sizes that decide how a file is read into a conversation.
const (
	smallFile    = 100 << 10 // below this it is read whole if it fits into what remains
	LargeFile    = 5 << 20   // above this only a preview is read
	previewChars = 2000

	bytesPerToken = 4
)

// ReadBudget returns how many bytes of a file of that size to read when the given
// tokens remain: at most a share of them, such as 0.6. Small files that fit are
// read whole; of very large ones a preview is enough to decide what to look for.
func ReadBudget(size int64, remaining int, share float64) int64 {
	bytes := bytesFor(remaining, share)
	switch {
	case bytes > 0 && size < smallFile && size <= int64(remaining)*bytesPerToken:
		return size
	case size > LargeFile:
		return min(previewChars, bytes)
	}
	return min(size, bytes)
}

// bytesFor is how many bytes a share of the remaining tokens holds.
func bytesFor(remaining int, share float64) int64 {
	return int64(share*float64(max(remaining, 0))) * bytesPerToken
}

// Attachments returns how many bytes of each of several files to read, so that all
// together stay within a share of the remaining tokens. Small files come first:
// what they leave is divided among the larger ones.
func Attachments(sizes []int64, remaining int, share float64) []int64 {
	bytes := make([]int64, len(sizes))
	for i, size := range sizes {
		if bytes[i] = size; size > LargeFile {
			bytes[i] = previewChars
		}
	}
	most := equalShare(bytes, bytesFor(remaining, share))
	for i := range bytes {
		bytes[i] = min(bytes[i], most)
	}
	return bytes
}

// equalShare returns the most that each may have so that all together have at most
// room: what the small ones leave is divided among the larger ones.
func equalShare[N int | int64](sizes []N, room N) N {
	sizes = slices.Sorted(slices.Values(sizes))
	for i, s := range sizes {
		left := N(len(sizes) - i)
		if s*left >= room {
			return room / left
		}
		room -= s
	}
	return slices.Max(append(sizes, room))
}
