package stage

// Sizes that decide how a file is read into a conversation.
const (
	smallFile    = 100 << 10 // below this it is read whole if it fits into what remains
	LargeFile    = 5 << 20   // above this only a preview is read
	previewChars = 2000

	FileShare     = 0.60 // of what remains, for files
	bytesPerToken = 4
)

// ReadMode says how much of a file to read.
type ReadMode string

// The ways of reading a file.
const (
	ReadWhole   ReadMode = "whole"
	ReadPart    ReadMode = "part"
	ReadPreview ReadMode = "preview"
	ReadNothing ReadMode = "nothing"
)

// ReadPlan says how much of a file can enter a conversation.
type ReadPlan struct {
	Mode   ReadMode
	Tokens int // the most it may cost
	Bytes  int // the most to read
}

// ReadBudget returns how much of a file of that size to read, when so many
// tokens remain: at most a share of them, such as [FileShare]. Small files that
// fit are read whole, of very large ones a preview is enough to decide what to
// look for.
func ReadBudget(size int64, remaining int, share float64) ReadPlan {
	tokens := int(share * float64(max(remaining, 0)))
	bytes := tokens * bytesPerToken
	switch {
	case tokens <= 0:
		return ReadPlan{Mode: ReadNothing}
	case size < smallFile && size <= int64(remaining)*bytesPerToken:
		return ReadPlan{Mode: ReadWhole, Tokens: max(tokens, int(size)/bytesPerToken), Bytes: int(size)}
	case size > LargeFile:
		n := min(previewChars, bytes)
		return ReadPlan{Mode: ReadPreview, Tokens: n / bytesPerToken, Bytes: n}
	case size <= int64(bytes):
		return ReadPlan{Mode: ReadWhole, Tokens: tokens, Bytes: int(size)}
	}
	return ReadPlan{Mode: ReadPart, Tokens: tokens, Bytes: bytes}
}

// Attachments returns how much of each of several files to read, so that all
// together stay within a share of the remaining tokens. Small files come first:
// what they leave is divided among the larger ones.
func Attachments(sizes []int64, remaining int, share float64) []ReadPlan {
	plans := make([]ReadPlan, len(sizes))
	left := int64(share*float64(max(remaining, 0))) * bytesPerToken
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
	// Water-filling: whoever needs no more than an equal share gets it all.
	for len(open) > 0 {
		each := left / int64(len(open))
		rest := open[:0:0]
		for _, i := range open {
			if want(i) <= each {
				plans[i] = filePlan(sizes[i], want(i))
				left -= want(i)
			} else {
				rest = append(rest, i)
			}
		}
		if len(rest) == len(open) {
			for _, i := range rest {
				plans[i] = filePlan(sizes[i], each)
			}
			break
		}
		open = rest
	}
	return plans
}

func filePlan(size, bytes int64) ReadPlan {
	p := ReadPlan{Mode: ReadPart, Bytes: int(bytes), Tokens: int((bytes + bytesPerToken - 1) / bytesPerToken)}
	switch {
	case bytes <= 0 && size > 0:
		p.Mode = ReadNothing
	case size > LargeFile:
		p.Mode = ReadPreview
	case bytes >= size:
		p.Mode = ReadWhole
	}
	return p
}
