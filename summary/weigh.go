package summary

import (
	"math"

	"github.com/winnow-llm/winnow/evidence"
)

// weigh says how likely each entity is needed later. What was mentioned often,
// lately and by the agent itself counts more; so does what stands beside things
// that the tail is about, in short texts, and in the company of things that
// are likely needed themselves.
func (s *scan) weigh() {
	s.paths = make([]int32, len(s.entities))
	for i := range s.lines {
		l := &s.lines[i]
		near := false
		for _, id := range s.occ[l.occ:l.end] {
			if s.entities[id].tail {
				near = true
				break
			}
		}
		h := s.lineHome(l)
		l.place = h
		for _, id := range s.occ[l.occ:l.end] {
			e := &s.entities[id]
			if near {
				e.near++
			}
			if e.home < 0 {
				e.home = h
			}
		}
	}
	for i := range s.entities {
		e := &s.entities[i]
		if e.tail {
			continue
		}
		if e.kind == wordEntity {
			e.weight = chance(s.wordOdds(e))
		} else {
			e.weight = s.odds(e)
		}
		e.cost = textCost(e.text)
		if e.ticks = e.ticked(); e.ticks {
			e.cost++
		}
	}
	s.keepCompany()
	for i := range s.entities {
		if e := &s.entities[i]; !e.tail {
			e.ratio = e.weight / e.cost
			e.pairs = e.kind != wordEntity && e.weight >= pairLeast
		}
	}
}

// lineHome is the home of what stands on a line: the file that the call was
// about, else a file that the line names, else the command.
func (s *scan) lineHome(l *line) int32 {
	if l.home >= 0 && s.homes[l.home].path != "" {
		return l.home
	}
	for _, id := range s.occ[l.occ:l.end] {
		if s.entities[id].kind == evidence.PathEntity {
			if s.paths[id] == 0 {
				s.paths[id] = s.pathHome(s.entities[id].text) + 2
			}
			if h := s.paths[id] - 2; h >= 0 {
				return h
			}
		}
	}
	return l.home
}

// The odds that the agent writes an entity again in its next steps: what each
// property adds to their logarithm. The model was fitted on recorded sessions,
// cut in many places with tails of many sizes; what did not help on sessions
// that it was not fitted on is left out.
const (
	oddsBase    = -1.05
	oddsCount   = 0.24  // for the logarithm of its occurrences
	oddsNear    = 0.08  // of those on a line with something that the tail mentions
	oddsAge     = -0.36 // of the bytes since it was last seen
	oddsBlock   = -0.19 // of the size of the shortest text it stands in
	oddsAgent   = 1.4   // the agent wrote it,
	oddsWritten = -0.32 // for the bytes since then
	oddsBody    = 0.3   // into the body of a call
	oddsUser    = -1.17 // a user wrote it:
	oddsAsked   = 0.44  // what a user asks for does not age
	oddsResult  = -0.6  // a tool printed it,
	oddsFailed  = -0.5  // one that failed
	oddsFile    = 0.4   // it belongs to a file,
	oddsChanged = -0.8  // to one that is changed already
	oddsCompany = 0.41  // for the chance of what it stands among
	oddsCounter = -1.5  // it only counts lines of what tools print
)

// oddsKind is what an entity's kind adds; oddsPrinted what it adds where tools
// alone wrote the entity.
var (
	oddsKind = [...]float64{
		evidence.PathEntity: 0.38, evidence.IdentEntity: -0.14, evidence.IDEntity: -0.47, evidence.NumberEntity: -0.54,
		evidence.FlagEntity: 0.36, evidence.ErrorEntity: -0.72, evidence.TickEntity: 0.4, evidence.URLEntity: -0.31,
	}
	oddsPrinted = [...]float64{evidence.IdentEntity: 0.3, evidence.NumberEntity: -1, evidence.URLEntity: 0}
)

const byAgent = 1<<fromAssistant | 1<<fromCall | 1<<fromBody

// has reports whether an entity stands in a source.
func (e *entity) has(from source) bool { return e.sources&(1<<from) != 0 }

// age is the logarithm of how many bytes ago a place in the region was, seen
// from the end of the history.
func (s *scan) age(pos int32) float64 {
	return math.Log1p(float64(s.pos+s.tail-int(pos)) / 1800)
}

// odds is the logarithm of an entity's odds, without its company.
func (s *scan) odds(e *entity) float64 {
	z := oddsBase + oddsCount*math.Log1p(float64(e.count)) + oddsNear*math.Log1p(float64(e.near)) +
		oddsAge*s.age(e.lastPos) + oddsBlock*math.Log1p(float64(e.block))
	if int(e.kind) < len(oddsKind) {
		z += oddsKind[e.kind]
		if e.sources&^failedBit == 1<<fromResult {
			z += oddsPrinted[e.kind]
			if e.kind == evidence.NumberEntity && !e.value {
				z += oddsCounter
			}
		}
	}
	if e.sources&byAgent != 0 {
		z += oddsAgent + oddsWritten*s.age(e.agentPos)
	}
	if e.has(fromBody) {
		z += oddsBody
	}
	if e.has(fromUser) {
		z += oddsUser + oddsAsked*s.age(e.userPos)
	}
	if e.has(fromResult) {
		z += oddsResult
	}
	if e.sources&failedBit != 0 {
		z += oddsFailed
	}
	if e.home >= 0 && s.homes[e.home].path != "" {
		z += oddsFile
		if s.homes[e.home].changed() {
			z += oddsChanged
		}
	}
	return z
}

// What plain words of each source add to the logarithm of their odds.
var wordSource = [...]float64{fromUser: 0.15, fromAssistant: 0.45, fromCall: 0.45, fromBody: 1, fromResult: -0.3}

// wordOdds is the logarithm of a plain word's odds. A word is worth less than
// its chance: alone it says little.
func (s *scan) wordOdds(e *entity) float64 {
	z := -4.8 - 0.2*math.Log1p(float64(e.messages)) - 0.27*math.Log1p(float64(s.pos-int(e.lastPos))/1800) +
		0.45*math.Log1p(float64(e.near)) + 0.018*float64(len(e.text))
	if tier, ok := s.common.tier(e.text, nameHash(e.text)); ok {
		z += 0.86 * math.Log(rarity[tier])
	}
	if e.sources&failedBit != 0 {
		z -= 0.4
	}
	for k, f := range wordSource {
		if e.sources&(1<<k) != 0 {
			z += f
		}
	}
	return z
}

// again is the chance that the agent runs a command again, as that of something
// else that it wrote then.
func (s *scan) again(h int) float64 {
	x := &s.homes[h]
	if x.ran == 0 {
		return 0
	}
	return chance(oddsBase + oddsAgent + (oddsAge+oddsWritten)*s.age(x.ran) + oddsBlock*math.Log1p(float64(len(x.name))))
}

// chance is the chance of odds given by their logarithm. Rounding keeps the
// choice the same on machines that compute differently.
func chance(z float64) float64 {
	return math.Round((1<<20)/(1+math.Exp(-z))) / (1 << 20)
}

// closeLines is how far apart two lines stand that belong together.
const closeLines = 2

// keepCompany turns odds into chances, with regard to what entities stand
// among: things are needed together.
func (s *scan) keepCompany() {
	alone := make([]float64, len(s.entities)) // chances without company
	best := make([]float64, len(s.entities))  // of the company
	for i := range s.entities {
		switch e := &s.entities[i]; {
		case e.kind == wordEntity:
		case e.tail:
			alone[i] = 0.3
		default:
			alone[i] = chance(e.weight - 1)
		}
	}
	sums, counts := make([]float64, len(s.lines)), make([]int, len(s.lines))
	for i := range s.lines {
		for _, id := range s.occ[s.lines[i].occ:s.lines[i].end] {
			if s.entities[id].kind != wordEntity {
				sums[i] += alone[id]
				counts[i]++
			}
		}
	}
	for i := range s.lines {
		sum, n := 0.0, -1 // without the entity itself
		for k := max(0, i-closeLines); k <= min(len(s.lines)-1, i+closeLines); k++ {
			if s.lines[k].msg == s.lines[i].msg {
				sum += sums[k]
				n += counts[k]
			}
		}
		if n <= 0 {
			continue
		}
		for _, id := range s.occ[s.lines[i].occ:s.lines[i].end] {
			best[id] = max(best[id], (sum-alone[id])/float64(n))
		}
	}
	for i := range s.entities {
		if e := &s.entities[i]; !e.tail && e.kind != wordEntity {
			e.weight = chance(e.weight + oddsCompany*math.Log(4*best[i]+0.02))
		}
	}
}

// changed reports whether a file was written to.
func (x *home) changed() bool {
	return x.path != "" && x.ops[evidence.Edit]+x.ops[evidence.Write]+x.ops[evidence.Delete] > 0
}

// pathHome finds the home of a path in its normal form of two segments; it is
// -1 where there is none.
func (s *scan) pathHome(short string) int32 {
	if h, ok := s.homeOf[short]; ok {
		return h
	}
	if s.byShort == nil {
		s.byShort = map[string]int32{}
		for i := range s.homes {
			if p := s.homes[i].path; p != "" {
				evidence.Entities(p, func(k evidence.EntityKind, v string) {
					if k == evidence.PathEntity {
						s.byShort[v] = int32(i)
					}
				})
			}
		}
	}
	if h, ok := s.byShort[short]; ok {
		return h
	}
	return -1
}

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
