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
			h.join(few, false)
		}
		seq := uint64(0)
		happens := func() (<-chan struct{}, uint64) {
			_, wake, _, _ := h.after(seq, few)
			seq++
			h.add(events.List{Seq: seq}, 0, nil)
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
		if last, _, _, _ := h.after(from-1, few); last != from+2 {
			t.Errorf("lists %d to %d together", from, last)
		}
		for range 1000 {
			h.leave(few, false)
		}
		if wake, _ := happens(); !woken(wake) {
			t.Error("nobody is left, and yet lists wait")
		}
	})
}

// TestCrowd: many readers of one user do not make wake-ups of others rarer.
func TestCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub()
		for range 1000 {
			h.join(many, false)
		}
		h.restart(0)
		h.add(events.List{Seq: 1}, 0, nil)
		_, first, _, _ := h.after(1, few)
		_, rest, _, _ := h.after(1, many)
		h.add(events.List{Seq: 2}, 0, nil)
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
	h := newHub()
	h.restart(6)
	const size = batchMost/2 + 1
	add := func(seq uint64) { h.add(events.List{Seq: seq, Events: make([]events.Event, size)}, 0, nil) }
	for seq := uint64(7); seq <= 11; seq++ {
		add(seq)
	}
	for _, c := range []struct{ after, last uint64 }{{6, 8}, {6, 8}, {8, 10}, {10, 11}, {11, 0}} {
		if last, _, has, _ := h.after(c.after, few); last != c.last || !has {
			t.Errorf("after %d: up to %d, expected %d", c.after, last, c.last)
		}
	}
	if n := len(h.between(6, 8)); n != 2 {
		t.Errorf("%d lists, expected 2", n)
	}
	h.keep = 4 * size
	add(12)
	add(13)
	if _, _, has, _ := h.after(7, few); has {
		t.Error("list 8 was dropped, and a reader gets it")
	}
	if next := h.between(7, 9); next != nil {
		t.Errorf("%d lists, of which the first was dropped", len(next))
	}
}

// TestBatch: readers that are as far as each other share one text; others have their own.
func TestBatch(t *testing.T) {
	h, made := newHub(), 0
	text := func(k batchKey) string {
		all, _ := h.batch(k, func() ([]byte, bool) { made++; return []byte{byte('0' + made)}, true }).text()
		return string(all)
	}
	one := batchKey{after: 1, last: 3}
	for _, c := range []struct {
		key  batchKey
		want string
	}{{one, "1"}, {one, "1"}, {batchKey{after: 2, last: 3}, "2"}, {batchKey{after: 1, last: 3, form: lines}, "3"}, {batchKey{after: 1, last: 3, conditions: "JOB"}, "4"}, {one, "1"}} {
		if got := text(c.key); got != c.want {
			t.Errorf("%+v: text %s, expected %s", c.key, got, c.want)
		}
	}
	for n := range uint64(sharedMost) {
		text(batchKey{after: 10 + n, last: 11 + n})
	}
	if len(h.shared) != sharedMost || text(one) == "1" {
		t.Errorf("%d batches are kept", len(h.shared))
	}
}
