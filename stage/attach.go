package stage

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
	left := bytesFor(remaining, share)
	open := make([]int, 0, len(sizes))
	for i := range sizes {
		open = append(open, i)
	}
	want := func(i int) int64 {
		if sizes[i] > LargeFile {
			return previewChars
		}
		return sizes[i]
	}
	// Water-filling: a file that needs at most an equal share is read whole.
	for len(open) > 0 {
		each := left / int64(len(open))
		rest := open[:0:0]
		for _, i := range open {
			if want(i) <= each {
				bytes[i] = want(i)
				left -= want(i)
			} else {
				rest = append(rest, i)
			}
		}
		if len(rest) == len(open) {
			for _, i := range rest {
				bytes[i] = each
			}
			break
		}
		open = rest
	}
	return bytes
}
