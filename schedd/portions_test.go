package schedd

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/quill-grid/quill/orders"
)

// TestPortions: what goes together depends on when the list before is answered. Each decision takes as long as the case
// says.
func TestPortions(t *testing.T) {
	always, never := func(int) bool { return true }, func(int) bool { return false }
	for _, c := range []struct {
		about   string
		decided int
		takes   time.Duration
		ready   func(decided int) bool // an answer is there when so many are decided
		want    string
	}{
		{"few orders are the last list", 31, 0, always, "rest 31"},
		{"no orders", 0, 0, always, "rest 0"},
		{"qmaster answers at once", 100, 0, always, "32 32 32 rest 4"},
		{"qmaster is slow", 300, 0, func(n int) bool { return n == 40 || n == 200 }, "40 160 rest 100"},
		{"qmaster does not answer", 1100, 0, never, "500 waits 500 waits rest 100"},
		{"a slow run", 10, 40 * time.Millisecond, always, "3 3 3 rest 1"},
		{"a slow run and a slow qmaster", 10, time.Second, func(n int) bool { return n > 7 }, "8 1 1 rest 0"},
	} {
		var got []string
		at, n := time.Unix(0, 0), 0
		decide := func(yield func(orders.Order) bool) {
			for n < c.decided {
				n++
				at = at.Add(c.takes)
				if !yield(&orders.JobScheddInfo{}) {
					return
				}
			}
		}
		rest := Portions(decide, func() time.Time { return at }, func(portion []orders.Order, wait bool) bool {
			switch {
			case wait:
				got = append(got, fmt.Sprintf("%d waits", len(portion)))
			case c.ready(n):
				got = append(got, fmt.Sprint(len(portion)))
			default:
				return false
			}
			return true
		})
		if got := strings.Join(append(got, fmt.Sprintf("rest %d", len(rest))), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.about, got, c.want)
		}
	}
}

// TestOffer: an offer is taken only by a receiver that is ready, unless it waits.
func TestOffer(t *testing.T) {
	to := make(chan int)
	if Offer(to, 1, false) {
		t.Error("nobody has taken it")
	}
	got := make(chan int)
	go func() { got <- <-to }()
	if !Offer(to, 2, true) || <-got != 2 {
		t.Error("it was not taken")
	}
	buffered := make(chan int, 1)
	if !Offer(buffered, 3, false) || <-buffered != 3 {
		t.Error("it was not taken")
	}
}
