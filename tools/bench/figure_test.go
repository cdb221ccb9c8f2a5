package bench

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// A figure's line is what scripts hold against a bar: its first six fields are
// fixed.
func TestLine(t *testing.T) {
	f := Figure{Bench: "throughput", Case: "singles", Value: 612.3, Unit: "jobs/s", Limit: 1530.2}
	const want = `{"bench":"throughput","case":"singles","value":612.3,"unit":"jobs/s","limit":1530.2,"ratio":0.40}`
	if got := string(f.line()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	f.Goal = goal{ratioAtLeast: 0.4, atLeast: 1000}
	f.Facts = []fact{{"p50_ms", 1.25}, {"jobs", 5000}, {"durable", false}}
	const more = `,"p50_ms":1.250,"jobs":5000,"durable":false,"goal":"at least 0.4 x limit, at least 1000 jobs/s","reached":false}`
	if got := string(f.line()); got != strings.TrimSuffix(want, "}")+more {
		t.Errorf("got %s", got)
	}
}

// What has no limit says so.
func TestLineWithoutLimit(t *testing.T) {
	f := Figure{Bench: "list", Case: "100k", Value: 0.169, Unit: "s", Goal: goal{atMost: 0.4}}
	var got map[string]any
	if err := json.Unmarshal(f.line(), &got); err != nil {
		t.Fatal(err)
	}
	if limit, there := got["limit"]; !there || limit != nil || got["ratio"] != nil || got["reached"] != true {
		t.Errorf("%s", f.line())
	}
}

func TestGoal(t *testing.T) {
	for _, c := range []struct {
		goal         goal
		value, limit float64
		want         bool
	}{
		{goal{}, 1, 0, true},
		{goal{ratioAtLeast: 0.5}, 50, 100, true},
		{goal{ratioAtLeast: 0.5}, 49, 100, false},
		{goal{ratioAtLeast: 5, atLeast: 10_000}, 9000, 1000, false},
		{goal{ratioAtLeast: 5, atLeast: 10_000}, 12_000, 3000, false},
		{goal{atMost: 15, ratioAtMost: 5}, 2, 0.8, true},
		{goal{atMost: 15, ratioAtMost: 5}, 14, 2, false},
		{goal{atMost: 15, ratioAtMost: 5}, 16, 8, false},
	} {
		if got := c.goal.reached(Figure{Value: c.value, Limit: c.limit}); got != c.want {
			t.Errorf("%g of %g: %t, want %t for %s", c.value, c.limit, got, c.want, c.goal.text("x"))
		}
	}
}

func TestQuantiles(t *testing.T) {
	var d durations
	for i := 100; i > 0; i-- {
		d = append(d, time.Duration(i)*time.Millisecond)
	}
	if d.at(0.5) != 50 || d.at(0.99) != 99 || d.at(1) != 100 || durations(nil).at(0.5) != 0 {
		t.Error(d.at(0.5), d.at(0.99), d.at(1))
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{5000: "5000", 100_000: "100k", 1_000_000: "1M", 1_500_000: "1500k", 16: "16"} {
		if got := count(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// The limits measure something, and clean up.
func TestLimits(t *testing.T) {
	dir := t.TempDir()
	if rate, err := syncRate(dir); err != nil || rate <= 0 {
		t.Error(rate, err)
	}
	if rate, err := spawnRate(2, 10, "/bin/true"); err != nil || rate <= 0 {
		t.Error(rate, err)
	}
	if _, err := spawnRate(2, 10, dir+"/nothing"); err == nil {
		t.Error("a program that is not there was started")
	}
	if bytes, _, err := readTree(dir); bytes != 0 || err != nil {
		t.Error("left over:", bytes, err)
	}
}
