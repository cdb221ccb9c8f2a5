package scoot

import (
	"math/rand/v2"
	"testing"

	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
)

func TestLaws(t *testing.T) { algorithmtest.Run(t, Entry) }

// TestLawsOfRebalance keeps the same laws while tasks are stopped.
func TestLawsOfRebalance(t *testing.T) {
	const classes = " scoot.requestor_map=none~none scoot.class_load_percents=alice=60,bob=30,carol=10 scoot.group_by=owner scoot.rebalance_threshold=1 scoot.rebalance_min_duration_s=1"
	algorithmtest.Run(t, Entry,
		"scoot.preemption=suspend"+classes,
		"scoot.preemption=requeue"+classes)
}

// TestPlanUsesAll: an ordinary plan in which every class has a percentage
// starts what waits or fills what is idle, whichever is less, and no class
// starts more than waits in it.
func TestPlanUsesAll(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		p, idle, waiting := randomPlan(r)
		before := append([]share(nil), p.shares...)
		p.ordinary(idle)
		total := 0
		for i, s := range p.shares {
			total += s.start
			if s.start < 0 || s.start > before[i].waiting || s.start+s.waiting != before[i].waiting {
				t.Fatalf("%+v: %s starts %d", before, s.class, s.start)
			}
		}
		if total != min(idle, waiting) {
			t.Fatalf("%+v: %d idle, %d wait, %d start", before, idle, waiting, total)
		}
	}
}

// TestRebalanceBounds: a rebalance stops only in classes above their targets,
// not below them, starts no more than waits, and neither exceeds the workers.
func TestRebalanceBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		p, _, _ := randomPlan(r)
		before := append([]share(nil), p.shares...)
		p.rebalance()
		starts, stops, after := 0, 0, 0
		for i, s := range p.shares {
			after += s.running + s.start
			starts += max(0, s.start)
			stops += max(0, -s.start)
			if s.start > before[i].waiting || s.start < 0 && s.running+s.start < s.target {
				t.Fatalf("%+v: %s: %d", before, s.class, s.start)
			}
		}
		if starts == 0 && stops > 0 || starts > 0 && after > p.workers {
			t.Fatalf("%+v: %d starts, %d stops, %d run then", before, starts, stops, after)
		}
	}
}

func randomPlan(r *rand.Rand) (p *plan, idle, waiting int) {
	conf := &Config{}
	for i, n := 0, 1+r.IntN(8); i < n; i++ {
		conf.order = append(conf.order, string(rune('a'+i)))
		conf.percents = append(conf.percents, 1)
	}
	for left := 100 - len(conf.percents); left > 0; {
		k := r.IntN(left) + 1
		conf.percents[r.IntN(len(conf.percents))] += k
		left -= k
	}
	size, used := 1+r.IntN(200), 0
	var shares []share
	for i, c := range conf.order {
		s := share{class: c, percent: conf.percents[i], running: r.IntN(size), waiting: r.IntN(3) * r.IntN(size)}
		used += s.running
		waiting += s.waiting
		shares = append(shares, s)
	}
	idle = r.IntN(size)
	return newPlan(used+idle, shares), idle, waiting
}
