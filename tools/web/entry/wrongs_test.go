package entry

import (
	"fmt"
	"testing"
	"time"
)

// TestWrongs: a client gets no more checks than it may have, in any window; clients too many to be counted one by one
// share them.
func TestWrongs(t *testing.T) {
	var w wrongs
	begun := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	allowed := func(client string, n int, now time.Time) bool {
		d := digestOf(fmt.Sprint(client, n))
		known, wait := w.check(client, d, now)
		if known || wait > 0 {
			return false
		}
		w.add(client, d, now)
		return true
	}
	for n := range 3 * WrongFree {
		if got := allowed("one", n, begun.Add(time.Duration(n)*time.Second)); got != (n < WrongFree) {
			t.Errorf("%d: %t", n, got)
		}
	}
	if known, _ := w.check("one", digestOf("one3"), begun.Add(wrongWindow-1)); !known {
		t.Error("forgotten within the window")
	}
	if !allowed("one", 99, begun.Add(wrongWindow)) {
		t.Error("not allowed after the window")
	}
	checked := 0
	for n := range clientsMost + 2*WrongFree {
		if allowed(fmt.Sprint("client", n), 0, begun.Add(wrongWindow)) {
			checked++
		}
	}
	if most := clientsMost - 1 + WrongFree; checked != most || len(w.of) > clientsMost+1 {
		t.Errorf("%d were checked, not %d; %d are counted", checked, most, len(w.of))
	}
	if w.sweep(begun.Add(2 * wrongWindow)); !w.none() {
		t.Errorf("%d are left", len(w.of))
	}
}
