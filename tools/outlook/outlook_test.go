package outlook

import "testing"

// What is said of a reservation is read from the lines of the schedule file.
func TestForeseen(t *testing.T) {
	at, where, ok := foreseen("7:1:RESERVING:1772438400:120:Q:all.q@h1:slots:1.000000", 7)
	if !ok || at != 1772438400_000 || where != "all.q@h1" {
		t.Errorf("got %v, %q, %v", at, where, ok)
	}
	for _, line := range []string{"7:1:RUNNING:1772438400:120:Q:all.q@h1:slots:1", "8:1:STARTING:1772438400:120:Q:all.q@h1:slots:1", "::::::::"} {
		if _, _, ok := foreseen(line, 7); ok {
			t.Errorf("%s is no start of job 7", line)
		}
	}
}
