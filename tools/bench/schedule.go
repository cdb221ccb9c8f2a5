package bench

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/schedd/couple"
	"github.com/quill-grid/quill/tools/simulator/workload"
)

// schedule measures the scheduler's runs in large cells: real event lists and
// orders, qmaster's core and its results; no bus and no disk between them.
func schedule(ctx context.Context, r *suite) error {
	jobs, hosts := or(r.Jobs, 1_000_000), or(r.Hosts, 10_000)
	defer debug.SetGCPercent(debug.SetGCPercent(200))
	for _, c := range []struct {
		name    string
		measure func(ctx context.Context, r *suite, jobs, hosts int) error
	}{
		{"busy cells of three sizes", busyCells},
		{"load adjustments", adjustedLoad},
		{"an empty cell", emptyCell},
		{"reservations", reservations},
		{"instances of resource maps", instances},
		{"instances and cores beside them", besideInstances},
		{"a wide parallel job", wideJob},
		{"memory", memoryOfPending},
		{"a workload log", simulator},
	} {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.progress("%s", c.name)
		if err := c.measure(ctx, r, jobs, hosts); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		runtime.GC()
	}
	return nil
}

// repeats is how often a run is measured; the median is reported.
const repeats = 7

// bar makes a figure whose limit is the bar it is held against.
func bar(name string, value float64, unit string, most float64, facts ...fact) Figure {
	return Figure{Case: name, Value: value, Unit: unit, Limit: most, Goal: goal{atMost: most}, Facts: facts}
}

// busyCells measures runs in full cells with more and more pending jobs: with
// nothing free, and after 1,000 tasks have ended.
func busyCells(_ context.Context, r *suite, jobs, hosts int) error {
	ends := min(1000, hosts*slotsOfHost/(repeats+1), jobs/100/(repeats+1))
	var refills []float64
	for _, pending := range []int{jobs / 100, jobs / 10, jobs} {
		b, err := large{hosts: hosts, running: hosts * slotsOfHost, pending: pending}.begin()
		if err != nil {
			return err
		}
		idle, err := b.repeated(0, 0)
		if err != nil {
			return err
		}
		refill, err := b.repeated(ends, ends)
		if err != nil {
			return err
		}
		r.progress("%s pending: a run with nothing free %.2f ms, one that starts %d %.2f ms", count(pending), idle.took,
			ends, refill.took)
		refills = append(refills, refill.took)
		if pending == jobs {
			r.figure(bar("idle", idle.took, "ms", 5, fact{"pending", pending}, fact{"hosts", hosts}, fact{"max_ms", idle.max}))
			r.figure(bar("refill", refill.took, "ms", 50, fact{"starts", ends}, fact{"decided_ms", refill.decided},
				fact{"max_ms", refill.max}))
		}
		runtime.GC()
	}
	r.figure(bar("growth", max(refills[1]/refills[0], refills[2]/refills[1]), "x", 1.5,
		fact{"refill_ms", refills}, fact{"per", "ten times as many pending jobs, at the same number of starts"}))
	return nil
}

// adjustedLoad is refill where starts adjust the load of their hosts, as in the default configuration: each goes to
// another host, and in each run thousands of hosts have an adjustment that has faded a little.
func adjustedLoad(_ context.Context, r *suite, jobs, hosts int) error {
	return refilled(r, "adjusted", 50, large{hosts: hosts, running: hosts * slotsOfHost, pending: jobs / 10, adjust: true})
}

// refilled reports, in milliseconds, the run of a full cell after up to 1,000 tasks have ended.
func refilled(r *suite, name string, most float64, l large, facts ...fact) error {
	ends := min(1000, l.running/(repeats+1), l.pending/(repeats+1))
	b, err := l.begin()
	if err != nil {
		return err
	}
	m, err := b.repeated(ends, ends)
	if err != nil {
		return err
	}
	facts = slices.Concat([]fact{{"pending", l.pending}, {"hosts", l.hosts}}, facts,
		[]fact{{"starts", ends}, {"decided_ms", m.decided}, {"max_ms", m.max}})
	r.figure(bar(name, m.took, "ms", most, facts...))
	return nil
}

// middle is the middle one of several runs, in milliseconds.
type middle struct{ took, decided, max float64 }

// repeated measures runs before each of which some tasks end, after one that
// is not counted.
func (b *bed) repeated(ends, starts int) (m middle, err error) {
	var took, decided durations
	for i := range repeats + 1 {
		b.end(ends)
		runtime.GC()
		out, err := b.run(15)
		if err != nil {
			return m, err
		}
		if i == 0 {
			continue
		}
		if out.starts != starts {
			return m, fmt.Errorf("a run starts %d tasks, not %d", out.starts, starts)
		}
		took, decided = append(took, out.took), append(decided, out.decided)
	}
	return middle{took.at(0.5), decided.at(0.5), took.at(1)}, nil
}

// emptyCell measures the first run in an empty cell.
func emptyCell(_ context.Context, r *suite, jobs, hosts int) error {
	b, err := large{hosts: hosts, pending: jobs}.begin()
	if err != nil {
		return err
	}
	runtime.GC()
	out, err := b.run(1)
	if err != nil {
		return err
	}
	if want := min(hosts*slotsOfHost, jobs); out.starts != want {
		return fmt.Errorf("%d tasks start, not %d", out.starts, want)
	}
	r.figure(bar("fill", out.took.Seconds(), "s", 2, fact{"starts", out.starts}, fact{"decided_s", out.decided.Seconds()},
		fact{"starts_per_s", float64(out.starts) / out.took.Seconds()}))
	return nil
}

// reservations measures a run that makes 100 reservations before 100,000 jobs
// of mixed sizes, after a few tasks have ended.
func reservations(_ context.Context, r *suite, jobs, hosts int) error {
	jobs, hosts = jobs/10, hosts/10
	b, err := large{hosts: hosts, running: hosts * slotsOfHost, pending: jobs, mixed: true, reservations: 100}.begin()
	if err != nil {
		return err
	}
	var took durations
	starts := 0
	for i := range repeats + 1 {
		b.end(hosts * slotsOfHost / 100)
		runtime.GC()
		out, err := b.run(15)
		if err != nil {
			return err
		}
		if i > 0 {
			took = append(took, out.took)
			starts += out.starts
		}
	}
	r.figure(bar("reserve", took.at(0.5), "ms", 250, fact{"pending", jobs}, fact{"hosts", hosts},
		fact{"reservations", 100},
		fact{"starts", starts / repeats}, fact{"max_ms", took.at(1)}))
	return nil
}

// instances measures runs in a cell whose hosts have 8 GPUs each, all of them in use, with
// 100,000 pending jobs that need one, after 1,000 tasks have ended.
func instances(_ context.Context, r *suite, jobs, hosts int) error {
	const gpus = 8
	return refilled(r, "instances", 25, large{hosts: hosts, running: hosts * gpus, pending: jobs / 10, instances: gpus},
		fact{"instances", hosts * gpus})
}

// besideInstances is instances where hosts have 16 cores in two sockets, and every job is bound to one that is near to
// its GPU.
func besideInstances(_ context.Context, r *suite, jobs, hosts int) error {
	const gpus, cores = 8, 16
	return refilled(r, "topology", 50, large{hosts: hosts, running: hosts * gpus, pending: jobs / 10,
		instances: gpus, cores: cores},
		fact{"instances", hosts * gpus}, fact{"cores", hosts * cores})
}

// wideJob measures the run that starts a parallel job on nearly all hosts.
func wideJob(_ context.Context, r *suite, _, hosts int) error {
	hosts /= 10
	slots := uint32(hosts * 10)
	var took durations
	for range repeats {
		b, err := large{hosts: hosts}.begin()
		if err != nil {
			return err
		}
		if _, err := b.run(1); err != nil { // learns the cell
			return err
		}
		if err := b.submit(1, slots); err != nil {
			return err
		}
		runtime.GC()
		out, err := b.run(1)
		if err != nil || out.starts != 1 {
			return fmt.Errorf("%d jobs start: %w", out.starts, err)
		}
		took = append(took, out.took)
	}
	r.figure(bar("parallel", took.at(0.5), "ms", 20, fact{"slots", slots}, fact{"hosts", hosts},
		fact{"max_ms", took.at(1)}))
	return nil
}

// memoryOfPending weighs what the scheduler keeps of a pending job: its
// model, filled from decoded event lists as they come over the wire.
func memoryOfPending(_ context.Context, r *suite, jobs, hosts int) error {
	without, err := weightOf(large{hosts: hosts, running: 0, pending: 0})
	if err != nil {
		return err
	}
	with, err := weightOf(large{hosts: hosts, running: 0, pending: jobs})
	if err != nil {
		return err
	}
	r.figure(bar("memory", float64(with-without)/float64(jobs), "B/job", 600, fact{"pending", jobs},
		fact{"model_mib", mib(int64(with))}))
	return nil
}

// listed is how many objects of a full state travel in one list.
const listed = 1000

// weightOf is what an algorithm that knows a cell weighs, in bytes.
func weightOf(l large) (uint64, error) {
	a, err := couple.Algorithm(shipped.Algorithms(), *l.policies())
	if err != nil {
		return 0, err
	}
	before := heap()
	var decoder codec.Decoder
	list := events.List{Seq: 1, At: epoch}
	flush := func() {
		got, _, decoding := decoder.List(codec.AppendList(nil, list))
		if decoding != nil {
			err = decoding
		}
		a.Apply(got)
		list.Events = list.Events[:0]
	}
	l.each(func(o grid.Object) {
		if list.Events = append(list.Events, events.Listed(o)); len(list.Events) == listed {
			flush()
		}
	})
	flush()
	a.Begin()
	decoder, list = codec.Decoder{}, events.List{}
	weight := heap() - before
	runtime.KeepAlive(a)
	return weight, err
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// simulator measures how fast a workload log is replayed under EASY
// backfilling.
func simulator(ctx context.Context, r *suite, _, _ int) error {
	log, err := workload.KTH()
	if err != nil {
		return err
	}
	jobs, _ := log.Usable(workload.Machine{Processors: workload.KTHProcessors})
	jobs = jobs[:min(len(jobs), or(r.Jobs, len(jobs)))]
	var speeds []float64
	for range 3 {
		runtime.GC()
		replay,
			err := workload.Run(ctx, jobs, workload.ReplayOptions{Conf: workload.Conf(1), Processors: workload.KTHProcessors,
			Begin: workload.Begin(log)})
		if err != nil {
			return err
		}
		speeds = append(speeds, float64(len(jobs))/replay.Took.Seconds())
	}
	r.figure(Figure{Case: "simulator", Value: slices.Max(speeds), Unit: "jobs/s",
		Facts: []fact{{"jobs", len(jobs)}, {"policy", "easy"}, {"goal", 100_000}}})
	return nil
}
