package schedd

import (
	"iter"
	"time"

	"github.com/quill-grid/quill/orders"
)

// Orders of a long run are sent while it still decides. Each list costs qmaster an append of its own, and those that
// are decided while it appends go together: so the first ones go early, and lists become as large as qmaster is slow.
const (
	portionLeast = 32                     // orders that are a list as soon as the one before is answered,
	portionAfter = 100 * time.Millisecond // or however few there are so long after the list before
	portionMost  = 500                    // the run waits until so many are taken
)

// Portions hands over what a run decides, in portions; what it returns is the last, which may be empty. offer reports
// whether it has taken a portion; with wait it must.
func Portions(
	decided iter.Seq[orders.Order], now func() time.Time, offer func(portion []orders.Order, wait bool) bool,
) (rest []orders.Order) {
	begun := now()
	for o := range decided {
		rest = append(rest, o)
		full := len(rest) == portionMost
		if (full || len(rest) >= portionLeast || now().Sub(begun) >= portionAfter) && offer(rest, full) {
			rest, begun = nil, now()
		}
	}
	return rest
}

// Offer sends to a channel if a receiver is ready, or waits for one.
func Offer[T any](to chan<- T, what T, wait bool) bool {
	if wait {
		to <- what
		return true
	}
	select {
	case to <- what:
		return true
	default:
		return false
	}
}
