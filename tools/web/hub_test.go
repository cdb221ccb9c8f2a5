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

// TestBatch: readers that are as far as each other share one text; others have their own.
func TestBatch(t *testing.T) {
	h, made := newHub(), 0
	text := func(k batchKey) string {
		return string(h.batch(k, func() []byte { made++; return []byte{byte('0' + made)} }).text())
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
