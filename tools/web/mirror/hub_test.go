package mirror

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/state"
)

// restart has a hub begin after a list.
func restart(h *Hub, seq uint64) {
	s := state.New()
	s.Seq = seq
	h.Restart(s)
}

// TestPace: what happens alone is sent at once, what happens in a burst together: each reader makes wake-ups rarer.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		for range 1000 {
			h.Join(Few, false)
		}
		seq := uint64(0)
		happens := func() (<-chan struct{}, uint64) {
			_, wake, _, _ := h.NextAfter(seq, Few)
			seq++
			h.Follow(&Update{List: events.List{Seq: seq}})
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
		restart(h, 0)
		time.Sleep(1000 * pace)
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
		if last, _, _, _ := h.NextAfter(from-1, Few); last != from+2 {
			t.Errorf("lists %d to %d together", from, last)
		}
		for range 1000 {
			h.Leave(Few, false)
		}
		if wake, _ := happens(); !woken(wake) {
			t.Error("nobody is left, and yet lists wait")
		}
	})
}

// TestCrowd: many readers of one user do not make wake-ups of others rarer.
func TestCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		for range 1000 {
			h.Join(Many, false)
		}
		restart(h, 0)
		h.Follow(&Update{List: events.List{Seq: 1}})
		_, first, _, _ := h.NextAfter(1, Few)
		_, rest, _, _ := h.NextAfter(1, Many)
		h.Follow(&Update{List: events.List{Seq: 2}})
		select {
		case <-first:
		default:
			t.Error("the others wait")
		}
		begun := time.Now()
		<-rest
		if took := time.Since(begun); took != 1000*pace {
			t.Errorf("the many are woken after %v", took)
		}
	})
}

// TestTaken: a reader takes lists up to a number of events at a time, and none that the hub has dropped.
func TestTaken(t *testing.T) {
	h := NewHub()
	restart(h, 6)
	const size = batchMost/2 + 1
	add := func(seq uint64) { h.Follow(&Update{List: events.List{Seq: seq, Events: make([]events.Event, size)}}) }
	for seq := uint64(7); seq <= 11; seq++ {
		add(seq)
	}
	for _, c := range []struct{ after, last uint64 }{{6, 8}, {6, 8}, {8, 10}, {10, 11}, {11, 0}} {
		if last, _, has, _ := h.NextAfter(c.after, Few); last != c.last || !has {
			t.Errorf("after %d: up to %d, expected %d", c.after, last, c.last)
		}
	}
	if n := len(h.ListsBetween(6, 8)); n != 2 {
		t.Errorf("%d lists, expected 2", n)
	}
	h.Keep = 4 * size
	add(12)
	add(13)
	if _, _, has, _ := h.NextAfter(7, Few); has {
		t.Error("list 8 was dropped, and a reader gets it")
	}
	if next := h.ListsBetween(7, 9); next != nil {
		t.Errorf("%d lists, of which the first was dropped", len(next))
	}
}

// TestBatch: readers that are as far as each other share one text; others have their own.
func TestBatch(t *testing.T) {
	h, made := NewHub(), 0
	text := func(k BatchKey) string {
		all, _ := h.Batch(k, func() ([]byte, bool) { made++; return []byte{byte('0' + made)}, true }).Text()
		return string(all)
	}
	one := BatchKey{After: 1, Last: 3}
	for _, c := range []struct {
		key  BatchKey
		want string
	}{{one, "1"}, {one, "1"}, {BatchKey{After: 2, Last: 3}, "2"}, {BatchKey{After: 1, Last: 3, Form: Lines}, "3"},
		{BatchKey{After: 1, Last: 3, Conditions: "JOB"}, "4"}, {one, "1"}} {
		if got := text(c.key); got != c.want {
			t.Errorf("%+v: text %s, expected %s", c.key, got, c.want)
		}
	}
	for n := range uint64(sharedMost) {
		text(BatchKey{After: 10 + n, Last: 11 + n})
	}
	if len(h.shared) != sharedMost || text(one) == "1" {
		t.Errorf("%d batches are kept", len(h.shared))
	}
}
