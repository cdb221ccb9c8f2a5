package history_test

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/archive"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
)

const million = 1_000_000

// busy makes lists as a busy cell does: arrays come, their tasks start, run and
// end; four events a task.
type busy struct {
	seq   uint64
	job   uint32
	tasks []*grid.JATask
}

func (b *busy) next() events.List {
	b.seq++
	l := events.List{Seq: b.seq, At: grid.Time(1_700_000_000_000 + 10*b.seq),
		Cause: events.Cause{Who: "schedd", What: "orders"}}
	if b.seq%8 == 1 {
		b.job++
		l.Events = append(l.Events, events.Add(&grid.Job{
			ID: b.job, Name: "align", Owner: "alice", Group: "staff", Version: 1, JobRequest: &grid.JobRequest{},
			Spec: &grid.JobSpec{Command: "/data/align.sh", Cwd: "/home/alice",
				Env: grid.Values{{Name: "HOME", Text: "/home/alice"}, {Name: "PATH", Text: "/usr/bin:/bin"}}},
			Tasks: grid.Range{First: 1, Last: 16, Step: 1}, Pending: grid.Ranges{{First: 1, Last: 16, Step: 1}}, Submit: l.At,
		}))
		for i := range uint32(16) {
			t := &grid.JATask{Job: b.job, ID: i + 1, Status: grid.Transfering, Start: l.At,
				Grants: []grid.Grant{{Queue: "all.q", Host: "node17", Slots: 1}}}
			b.tasks = append(b.tasks, t)
			l.Events = append(l.Events, events.Add(t))
		}
		return l
	}
	for i := range min(len(b.tasks), 5) {
		t := *b.tasks[i]
		t.Status = grid.Running
		l.Events = append(l.Events, events.Mod(&t))
	}
	if len(b.tasks) > 1000 {
		for _, t := range b.tasks[:4] {
			l.Events = append(l.Events, events.Del(grid.KindJATask, t.Key()))
		}
		b.tasks = b.tasks[4:]
	}
	return l
}

// busyCell writes a cell's directory with a snapshot and a million events after
// it; it returns the Seqs of the snapshot and of the end.
func busyCell(b testing.TB, dir string) (from, to uint64) {
	server, err := bus.Start(bus.ServerOptions{Dir: dir + "/log"})
	must(b, err)
	defer server.Stop()
	conn, err := server.Connect(bus.Identity{Role: bus.QMaster, Name: "qmaster"})
	must(b, err)
	defer conn.Close()
	log, err := bus.Open(conn, bus.LogOptions{})
	must(b, err)
	snaps, err := archive.OpenSnapshots(dir + "/snapshots")
	must(b, err)
	_, err = log.Read(frame.Point{}, nil)
	must(b, err)
	must(b, log.TakeOver(0))
	story, live := &busy{}, newStory(0).state
	f := frame.Frame{First: 1}
	flush := func() {
		f.Last = story.seq
		must(b, log.Append(&f))
		f = frame.Frame{First: story.seq + 1, Payload: f.Payload[:0]}
	}
	for n := 0; n < million; {
		l := story.next()
		if from == 0 {
			live.Apply(l)
		} else {
			n += len(l.Events)
		}
		f.Payload = codec.AppendList(f.Payload, l)
		f.Count++
		if len(f.Payload) > 60<<10 {
			flush()
		}
		if story.seq == 10_000 {
			flush()
			from = story.seq
			must(b, snaps.Write(log.Tail(), history.Chunks(live)))
			must(b, log.Purge(log.Tail()))
		}
	}
	flush()
	return from, story.seq
}

// processorTime is what this process has used: on a machine that others use, too,
// it says more than the time that passed.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkMillion: snapshot and 1,000,000 events to the state, opening the
// directory included, and stepping back near points all over it.
func BenchmarkMillion(b *testing.B) {
	dir := b.TempDir()
	from, to := busyCell(b, dir)
	for b.Loop() {
		begun := time.Now()
		l := open(b, history.Source{Dir: dir})
		b.ReportMetric(time.Since(begun).Seconds(), "open-s")
		p := history.NewPlayer(l)
		seek, busy := time.Now(), processorTime(b)
		_, err := p.Seek(to)
		must(b, err)
		b.ReportMetric(time.Since(seek).Seconds(), "seek-s")
		b.ReportMetric(time.Since(begun).Seconds(), "state-s")
		b.ReportMetric((processorTime(b) - busy).Seconds(), "seek-cpu-s")
		worst, sum, steps := time.Duration(0), time.Duration(0), 0
		step := func() {
			begun := time.Now()
			_, err := p.Back()
			must(b, err)
			took := time.Since(begun)
			worst, sum, steps = max(worst, took), sum+took, steps+1
		}
		busy = processorTime(b)
		going := time.Duration(0)
		for i := range uint64(40) { // everywhere, in no order
			begun := time.Now()
			_, err := p.Seek(from + 10 + (i*7919%40)*(to-from-20)/40)
			must(b, err)
			going = max(going, time.Since(begun))
			for range 5 {
				step()
			}
		}
		for range 2000 { // over several checkpoints
			step()
		}
		b.ReportMetric(float64(going.Milliseconds()), "goto-worst-ms")
		b.ReportMetric(float64((processorTime(b)-busy).Milliseconds())/float64(steps), "back-cpu-ms")
		b.ReportMetric(float64(worst.Milliseconds()), "back-worst-ms")
		b.ReportMetric(float64(sum.Milliseconds())/float64(steps), "back-mean-ms")
	}
}

// BenchmarkAsked: what a qmaster sends of a million events to a client that asks for all of
// them, and for the end only: how long until the first of it, until all of it, and
// how much of the heap it takes.
func BenchmarkAsked(b *testing.B) {
	dir := b.TempDir()
	_, to := busyCell(b, dir)
	server, err := bus.Start(bus.ServerOptions{Dir: dir + "/log"})
	must(b, err)
	defer server.Stop()
	conn, err := server.Connect(bus.Identity{Role: bus.QMaster, Name: "qmaster"})
	must(b, err)
	defer conn.Close()
	log, err := bus.Open(conn, bus.LogOptions{})
	must(b, err)
	snapshots := archive.ReadSnapshots(dir + "/snapshots")
	at, err := snapshots.Oldest()
	must(b, err)
	_, err = log.Read(at, func(frame.Frame) error { return nil })
	must(b, err)
	for _, c := range []struct {
		name string
		from uint64
	}{{"all", 0}, {"end", to}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				runtime.GC()
				var before runtime.MemStats
				runtime.ReadMemStats(&before)
				asker := &asker{begun: time.Now(), before: before.HeapInuse}
				l, err := history.Within("bench", log, conn, snapshots, nil)
				must(b, err)
				must(b, l.Export(asker, history.Export{Kept: true, From: c.from}))
				must(b, l.Close())
				b.ReportMetric(asker.first.Seconds(), "first-s")
				b.ReportMetric(time.Since(asker.begun).Seconds(), "all-s")
				b.ReportMetric(float64(asker.bytes)/(1<<20), "MB")
				b.ReportMetric(float64(asker.most)/(1<<20), "heap-MB")
			}
		})
	}
}

// asker measures what it is sent.
type asker struct {
	begun        time.Time
	first        time.Duration
	bytes        int
	before, most uint64
}

func (a *asker) Write(p []byte) (int, error) {
	if a.bytes += len(p); a.first == 0 && a.bytes > 64<<10 {
		a.first = time.Since(a.begun)
	}
	if len(p) > 10_000 {
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		a.most = max(a.most, now.HeapInuse-min(a.before, now.HeapInuse))
	}
	return len(p), nil
}
