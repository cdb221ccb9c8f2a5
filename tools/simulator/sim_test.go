package simulator

import (
	"flag"
	"strings"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/testkit"
)

var requests = flag.Int("requests", 20, "of the workload at whose every append qmaster crashes")

// TestLaws lives through many worlds.
func TestLaws(t *testing.T) {
	var sum Statistics
	worlds := testkit.EachSeed(t, 24, func(t *testing.T, s uint64) {
		c := Parameters{Seed: s, Hosts: 1 + int(s%4), Slots: 1 + int(s%3), Requests: 100, Faults: s%5 != 0,
			Quota:   int(s % 3 * 2),
			Reserve: s%2 == 0, Silence: s%4 == 3, Plans: s%7 < 5, Summary: s%2 == 0, Instances: s%3 != 1}
		if c.Tokens = s%4 == 2 || s%6 == 5; c.Tokens {
			c.Pace = 1.5 // so that tokens expire
		}
		if c.Preempt = s%6 < 3; c.Preempt {
			c.Algorithms = [][]string{{"gridserver"}, {"scoot"}, {"gridserver", "scoot", "default"}}[s%6]
		}
		r, err := Run(c)
		if err != nil {
			t.Fatal(err)
		}
		sum.Lists += r.Lists
		sum.Jobs += r.Jobs
		sum.Starts += r.Starts
		sum.Crashes += r.Crashes
		sum.Refused += r.Refused
		sum.Preempted += r.Preempted
		sum.Inherited += r.Inherited
		sum.Mapped += r.Mapped
		sum.Selected += r.Selected
		sum.Hosted += r.Hosted
		sum.Scoped += r.Scoped
		sum.Bound += r.Bound
		sum.Held += r.Held
		sum.Tokened += r.Tokened
		sum.Expelled += r.Expelled
		sum.LogIns += r.LogIns
		sum.Lost += r.Lost
		sum.Reservations += r.Reservations
		sum.Health += r.Health
		sum.Seconds += r.Seconds
	})
	if worlds >= 20 {
		for _, c := range []struct {
			what        string
			seen, atMin int // in each world on average
		}{
			{"jobs", sum.Jobs, 30}, {"starts", sum.Starts, 50}, {"crashes of qmaster", sum.Crashes, 1},
			{"messages lost", sum.Lost, 5},
			{"refused orders", sum.Refused, 2}, {"preempted tasks", sum.Preempted, 2}, {"PE tasks", sum.Inherited, 3},
			{"tasks with instances", sum.Mapped, 3},
			{"tasks that select instances", sum.Selected, 2}, {"tasks that take something per host", sum.Hosted, 2},
			{"requests of one scope", sum.Scoped, 1}, {"tasks with cores", sum.Bound, 3},
			{"jobs whose tasks wait for tasks", sum.Held, 1}, {"advance reservations", sum.Reservations, 1},
			{"changes of the health of instances", sum.Health, 1}, {"changes with tokens", sum.Tokened, 1},
			{"requests with tokens that are not valid", sum.Expelled, 1}, {"log-ins", sum.LogIns, 1},
		} {
			if c.seen < c.atMin*int(worlds) {
				t.Errorf("%d %s in %d worlds: too few to hold the laws against them", c.seen, c.what, worlds)
			}
		}
	}
	t.Logf("%d worlds: %+v", worlds, sum)
}

// TestEveryAppend crashes qmaster at every append of a workload, once before the list is
// durable and once after, in a world of its own each time: what is recovered is compared
// with the log, and the workload continues to its end under all laws. With an odd -seed jobs want instances of
// resources, which takes longer.
func TestEveryAppend(t *testing.T) {
	seed := testkit.FirstSeed(2)
	c := Parameters{Seed: seed, Hosts: 2, Slots: 2, Requests: *requests, Quota: 3, Reserve: true,
		Plans: true, Summary: true,
		Shares: true, Instances: seed%2 == 1}
	whole := crashEverywhere(t, c)
	if whole.Starts < whole.Jobs/2 || whole.Reservations == 0 || whole.Lists < 50 {
		t.Errorf("the workload is too small to say much: %d lists, %d jobs, %d starts, %d reservations", whole.Lists,
			whole.Jobs, whole.Starts, whole.Reservations)
	}
	c.Tokens, c.Pace, c.Requests = true, 1.5, 3*c.Requests
	if whole = crashEverywhere(t, c); whole.Tokened == 0 || whole.LogIns == 0 {
		t.Errorf("too little is done with tokens: %d changes, %d log-ins", whole.Tokened, whole.LogIns)
	}
}

// crashEverywhere runs a workload once without a crash, and returns what it was, then with a crash at each append.
func crashEverywhere(t *testing.T, c Parameters) Statistics {
	whole, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	worlds := 0
	for c.CrashAt = 1; c.CrashAt < whole.Lists; c.CrashAt++ {
		for _, c.CrashAfter = range []bool{false, true} {
			r, err := Run(c)
			if err != nil {
				t.Fatalf(
					"append %d of %d, after it is durable %v: %v\nrepeat with: go test ./tools/simulator -run TestEveryAppend -seed %d -requests %d",
					c.CrashAt, whole.Lists, c.CrashAfter, err, c.Seed, *requests)
			}
			if worlds++; r.Crashes != 1 {
				t.Fatalf("append %d of %d, after it is durable %v: %d crashes", c.CrashAt, whole.Lists, c.CrashAfter, r.Crashes)
			}
		}
	}
	t.Logf("%d worlds; without a crash: %d lists, %d jobs, %d starts, %d reservations", worlds, whole.Lists, whole.Jobs,
		whole.Starts, whole.Reservations)
	return whole
}

// TestPlantedFaults holds the laws against worlds with a fault: each must be
// found within a few seeds.
func TestPlantedFaults(t *testing.T) {
	oneEvent := func() planted {
		forgotten := false
		return planted{forget: func(e events.Event) bool {
			forget := !forgotten && e.Kind == grid.KindJATask && e.Op == events.OpMod
			forgotten = forgotten || forget
			return forget
		}}
	}
	for _, c := range []struct {
		name  string
		plant func() planted
		law   string // part of the message of the law that finds it
	}{
		{"a reader of the log forgets one event", oneEvent, "the live state"},
		{"qmaster answers before the append", func() planted { return planted{early: true} }, "acknowledged before"},
		{"qmaster does not check tokens", func() planted { return planted{blind: true} }, "was made with token"},
		{"qmaster forgets who has which instance", func() planted { return planted{first: true} }, "granted twice"},
		{"qmaster does not look at characteristics", func() planted { return planted{others: true} }, "does not have"},
		{"qmaster forgets the rest of a portion", func() planted { return planted{once: true} }, "waits for"},
		{"qmaster forgets who has which cores", func() planted { return planted{firstCores: true} },
			"cores that are granted twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for s := uint64(1); s <= 10; s++ {
				instances := strings.Contains(c.law, "granted twice") || c.law == "does not have"
				_,
					err := Run(
					Parameters{Seed: s, Hosts: 2, Slots: 2, Requests: 100, Faults: true, Tokens: c.law == "was made with token",
						Instances: instances, Pace: 1.5, planted: c.plant()})
				if err == nil {
					continue
				}
				if !strings.Contains(err.Error(), c.law) {
					t.Fatalf("another law found it: %v", err)
				}
				t.Logf("found with seed %d: %.200s", s, err)
				return
			}
			t.Fatal("no law found it")
		})
	}
}
