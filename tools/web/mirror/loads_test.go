package mirror

import (
	"fmt"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

// reported is an event list in which hosts report their load.
func reported(at grid.Time, load string, hosts ...string) events.List {
	l := events.List{At: at}
	for _, h := range hosts {
		l.Events = append(l.Events, events.Mod(&grid.Load{Host: h, Values: grid.Values{{Name: "load_avg", Text: load}}}))
	}
	return l
}

// TestLoads: the last report of a step is kept, for a day; many hosts have fewer points each.
func TestLoads(t *testing.T) {
	const minute, begin = grid.Time(60_000), grid.Time(1_700_000_040_000)
	var l Loads
	l.Add(reported(begin, "1", "a"))
	l.Add(reported(begin+minute/2, "2", "a", "b"))
	l.Add(reported(begin+minute, "3", "a"))
	l.Add(events.List{At: begin + minute, Events: []events.Event{events.Mod(&grid.Load{Host: "a", Unheard: true}),
		events.Mod(&grid.Load{Host: "a", Values: grid.Values{{Name: "load_avg", Text: "x"}}})}})
	if got := fmt.Sprint(l.Of("a", 0, begin+2*minute), l.Of("b", 0, begin), l.From == begin); got != fmt.Sprintf(
		"[{%d 2} {%d 3}] [] true", begin+minute/2, begin+minute) {
		t.Error(got)
	}
	var before Loads
	before.Add(reported(begin-minute, "0.5", "a", "c"))
	before.Add(reported(begin+minute, "9", "a")) // both have it
	l.Prepend(before)
	if got := l.Of("a", 0, begin+2*minute); len(got) != 3 || got[0].Load != 0.5 || got[2].Load != 3 ||
		len(l.Of("c", 0, begin)) != 1 || l.From != begin-minute {
		t.Error(got)
	}
	for n := range grid.Time(3 * 24 * 60) {
		l.Add(reported(begin+n*minute, "1", "a"))
	}
	if n := len(l.hosts["a"]); n < 24*60 || n > 27*60 {
		t.Errorf("%d points of three days are kept", n)
	}
	if len(l.Of("b", 0, 1<<60)) != 0 || len(l.hosts) != 1 {
		t.Errorf("%d hosts are kept: one has reported nothing for three days", len(l.hosts))
	}
	for n := range 10_000 {
		l.Add(reported(begin, "1", fmt.Sprint("many", n)))
	}
	if s := l.step(); s < 7*minute || s > 8*minute {
		t.Errorf("points of 10,000 hosts are %d seconds apart", s/1000)
	}
}
