package outlook

import "testing"

// TestPlanned: a line of the schedule file has the task, its time and what it takes in a queue instance; a time without
// end is 0.
func TestPlanned(t *testing.T) {
	p, place, ok := planned("7:3:RESERVING:1772438400:120:Q:all.q@h1:slots:2.000000")
	if !ok || p.Job != 7 || p.Task != 3 || p.At != 1772438400_000 || p.Seconds != 120 || place != (Place{"all.q@h1", 2}) {
		t.Errorf("got %+v, %+v, %v", p, place, ok)
	}
	p, place, ok = planned("7:3:STARTING:1772438400:4294967295:P:make:slots:2.000000")
	if !ok || p.Seconds != 0 || place.Instance != "" {
		t.Errorf("got %+v, %+v, %v", p, place, ok)
	}
	for _, line := range []string{"7:1:RUNNING:1772438400:120:Q:all.q@h1:slots:1",
		"x:1:STARTING:1772438400:120:Q:all.q@h1:slots:1", "::::::::"} {
		if _, _, ok := planned(line); ok {
			t.Errorf("%s is no start", line)
		}
	}
}
