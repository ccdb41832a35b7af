package providersim

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Fault is a way to fail. In the header Sim-Fault it is written as
// comma-separated words, for example "reset-after=3" or "status=429, retry-after=2".
// For an answer without streaming, the faults inside a stream happen halfway
// through the body.
type Fault struct {
	// Status answers with that status and the provider's text: 401, 403, 429,
	// 500, 503, 529 … RetryAfter is its Retry-After header in seconds.
	Status     int // status=N
	RetryAfter int // retry-after=N

	// Drop closes the connection before anything is answered.
	Drop bool // drop

	// Delay is a pause before the answer, Slow one before each event.
	Delay time.Duration // delay=D
	Slow  time.Duration // slow=D

	// At is after how many events of a stream the fault in Kind happens.
	Kind FaultKind
	At   int

	// Big makes the agent's text that many bytes long.
	Big int // big=N
}

// FaultKind is what happens inside an answer.
type FaultKind string

const (
	FaultNone FaultKind = ""

	// FaultReset breaks the connection with a TCP reset.
	FaultReset FaultKind = "reset-after"

	// FaultStall sends nothing more for [Options.StallFor], then breaks.
	FaultStall FaultKind = "stall-after"

	// FaultHalf sends half of the next event and ends as if all were well.
	FaultHalf FaultKind = "half-event"

	// FaultEnd ends as if all were well, without the rest.
	FaultEnd FaultKind = "end-after"

	// FaultError sends an overload error as an event and ends.
	FaultError FaultKind = "error-after"

	// FaultGarbage answers 200 with a page that is not JSON.
	FaultGarbage FaultKind = "garbage"

	// FaultEmpty answers 200 with no body at all.
	FaultEmpty FaultKind = "empty"
)

// ParseFault reads the form that the header Sim-Fault has.
func ParseFault(text string) (Fault, error) {
	var f Fault
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		if word == "" {
			continue
		}
		name, arg, _ := strings.Cut(word, "=")
		var err error
		switch name {
		case "status":
			f.Status, err = strconv.Atoi(arg)
			if err == nil && (f.Status < 400 || f.Status > 599) {
				err = fmt.Errorf("%d is not an error status", f.Status)
			}
		case "retry-after":
			f.RetryAfter, err = strconv.Atoi(arg)
		case "drop":
			f.Drop = true
		case "delay":
			f.Delay, err = time.ParseDuration(arg)
		case "slow":
			f.Slow, err = time.ParseDuration(arg)
		case "big":
			f.Big, err = strconv.Atoi(arg)
			if err == nil && (f.Big < 0 || f.Big > 1<<28) {
				err = fmt.Errorf("%d bytes are out of range", f.Big)
			}
		case string(FaultReset), string(FaultStall), string(FaultHalf), string(FaultEnd), string(FaultError):
			f.Kind = FaultKind(name)
			if arg != "" {
				f.At, err = strconv.Atoi(arg)
			}
		case string(FaultGarbage), string(FaultEmpty):
			f.Kind = FaultKind(name)
		default:
			err = fmt.Errorf("no such fault; winnow sim --help lists them")
		}
		if err != nil {
			return Fault{}, fmt.Errorf("fault %q: %w", word, err)
		}
	}
	return f, nil
}

// name returns the fault as /sim/requests counts it.
func (f Fault) name() string {
	switch {
	case f.Drop:
		return "drop"
	case f.Status != 0:
		return "status_" + strconv.Itoa(f.Status)
	case f.Kind != FaultNone:
		return string(f.Kind)
	case f.Big > 0:
		return "big"
	case f.Slow > 0:
		return "slow"
	case f.Delay > 0:
		return "delay"
	}
	return ""
}

// refusal returns what the fault tells instead of an answer, or nil.
func (f Fault) refusal(dialect string) *refusal {
	if f.Status == 0 {
		return nil
	}
	return providerFailure(dialect, f.Status, f.RetryAfter)
}

// pickFault picks the request's fault: the header's, else by chance.
func (s *Server) pickFault(r *http.Request, number uint64) (Fault, error) {
	if h := r.Header.Get("Sim-Fault"); h != "" {
		return ParseFault(h)
	}
	if len(s.opts.Faults) == 0 {
		return Fault{}, nil
	}
	x := rand.New(rand.NewPCG(s.opts.Seed, number)).Float64()
	for _, c := range s.opts.Faults {
		if x < c.P {
			return c.Fault, nil
		}
		x -= c.P
	}
	return Fault{}, nil
}
