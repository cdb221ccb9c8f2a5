package orders

import "fmt"

// Refusal is qmaster's negative answer to one order: its index in the list, why as a
// code, and why as a text.
type Refusal struct {
	Index  int
	Code   Code
	Reason string `see:"text"`
}

// Code is why an order is refused; the numbers are part of the wire format.
type Code uint8

const (
	Malformed    Code = iota // a number that is none, an unknown type, a grant without slots
	Unregistered             // the scheduler that sent the list is not the registered one
	Unknown                  // no such job, task or queue instance
	Changed                  // the job or queue is another version than the scheduler has seen
	Ineligible               // on hold, waits for predecessors or for its start time; or it may not be started again
	WrongState               // the task has started already, or is not pending, running or in error as the order expects
	NoFit                    // resources are not free
	Internal                 // qmaster failed over the list; its log says more
)

// Stale reports whether events that the scheduler has not seen yet explain the
// refusal; otherwise the order is wrong whatever happens.
func (c Code) Stale() bool { return c > Unregistered && c != Internal }

var codeNames = [...]string{"malformed", "unregistered", "unknown", "changed", "ineligible", "state",
	"no-fit", "internal"}

func (c Code) String() string {
	if int(c) < len(codeNames) {
		return codeNames[c]
	}
	return fmt.Sprintf("code %d", uint8(c))
}
