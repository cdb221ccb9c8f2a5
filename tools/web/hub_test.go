package web

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/quill-grid/quill/events"
)

// TestPace: what happens alone is sent at once, what happens in a burst together: each reader makes wake-ups rarer.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub()
		for range 1000 {
			h.join(false)
		}
		seq := uint64(0)
		happens := func() (<-chan struct{}, uint64) {
			_, wake, _, _ := h.after(seq)
			seq++
			h.add(events.List{Seq: seq}, nil)
			return wake, seq
		}
		woken := func(wake <-chan struct{}) bool {
			select {
			case <-wake:
				return true
			default:
				return false
			}
		}
		h.restart(0)
		time.Sleep(time.Second)
		if wake, _ := happens(); !woken(wake) {
			t.Error("readers do not learn at once what happens alone")
		}
		begun := time.Now()
		first, from := happens()
		happens()
		last, _ := happens()
		if woken(first) || woken(last) {
			t.Error("readers are woken by each list of a burst")
		}
		<-last
		if took := time.Since(begun); took != 1000*pace || !woken(first) {
			t.Errorf("readers are woken after %v", took)
		}
		if next, _, _, _ := h.after(from - 1); len(next) != 3 {
			t.Errorf("%d lists together", len(next))
		}
		for range 1000 {
			h.leave(false)
		}
		if wake, _ := happens(); !woken(wake) {
			t.Error("nobody is left, and yet lists wait")
		}
	})
}
