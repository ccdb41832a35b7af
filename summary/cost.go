package summary

// textCost estimates the tokens of a short text. What matters is the proportion
// between texts: a counter's verdict on the whole corrects the scale. The
// numbers are a fit to what names and paths count in the o200k vocabulary.
func textCost(t string) float64 {
	blanks, lower, upper, digits, numbers, marks := 1, 0, 0, 0, 0, 0
	prev := uint64(0)
	for len(t) > 0 {
		part := t[:min(len(t), costChunk)]
		t = t[len(part):]
		sum := uint64(0)
		for i := range len(part) {
			step := &costSteps[part[i]]
			sum += step[prev]
			prev = step[3]
		}
		blanks += int(sum & costMask)
		lower += int(sum >> costBits & costMask)
		upper += int(sum >> (2 * costBits) & costMask)
		digits += int(sum >> (3 * costBits) & costMask)
		numbers += int(sum >> (4 * costBits) & costMask)
		marks += int(sum >> (5 * costBits) & costMask)
	}
	return 0.2*float64(blanks) + 0.14*float64(lower) + 0.22*float64(upper) + 0.3*float64(digits) + 1.35*float64(numbers) + 0.73*float64(marks)
}

// The numbers that textCost needs stand side by side in one word, ten bits
// each. A byte adds at most two to one of them.
const (
	costBits  = 10
	costMask  = 1<<costBits - 1
	costChunk = costMask / 2
)

// costSteps holds for each byte what it adds, by the kind of the byte before it
// (0 other, 1 a small letter, 2 a digit), and last its own kind. A capital
// behind a small letter counts twice.
var costSteps = func() (t [256][4]uint64) {
	const blank, lower, upper, digit, number, mark = 1, 1 << costBits, 1 << (2 * costBits), 1 << (3 * costBits), 1 << (4 * costBits), 1 << (5 * costBits)
	for c := range t {
		switch {
		case 'a' <= c && c <= 'z':
			t[c] = [4]uint64{lower, lower, lower, 1}
		case c >= 0x80:
			t[c] = [4]uint64{lower, lower, lower, 0}
		case 'A' <= c && c <= 'Z':
			t[c] = [4]uint64{upper, 2 * upper, upper, 0}
		case '0' <= c && c <= '9':
			t[c] = [4]uint64{digit + number, digit + number, digit, 2}
		case c == ' ':
			t[c] = [4]uint64{blank, blank, blank, 0}
		default:
			t[c] = [4]uint64{mark, mark, mark, 0}
		}
	}
	return t
}()
