package execd

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/quill-grid/quill/execd/core"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// feeder is a qmaster that keeps a number of slots full: each end that is
// reported is answered by the next delivery.
type feeder struct {
	*qmaster
	b     *testing.B
	dir   string
	next  uint32
	slots int
	over  chan struct{}
	tasks int // reported in all
}

func (f *feeder) Report(_ context.Context, r report.Report) (report.Receipt, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := report.Receipt{Epoch: 1}
	var jobs []*grid.Job
	for _, t := range r.Tasks {
		f.tasks++
		if t.Phase != report.Ended {
			continue
		}
		m.Have = append(m.Have, t.Attempt)
		f.slots++
		if t.Result.Failed != 0 {
			f.b.Errorf("%v: %+v", t.Attempt, t.Result)
		}
	}
	for f.slots > 0 && f.next < uint32(f.b.N) {
		f.next++
		f.slots--
		j := binary(f.b, f.dir, f.next, "/bin/true")
		j.Spec.Stdout = grid.Names{"/dev/null"}
		jobs = append(jobs, j)
	}
	if len(jobs) > 0 {
		f.send(jobs)
	}
	if f.next == uint32(f.b.N) && f.slots == benchSlots {
		close(f.over)
	}
	return m, nil
}

func (f *feeder) send(jobs []*grid.Job) {
	queue := unlimited("all.q", "node1")
	queue.TmpDir = f.tmp
	c := report.Command{Epoch: 1, Jobs: jobs, Queues: []report.QueueInstance{queue}}
	for _, j := range jobs {
		c.Deliver = append(c.Deliver, report.Deliver{Attempt: report.Attempt{Job: j.ID, Task: 1, N: 1},
			Grants: []grid.Grant{{Queue: "all.q", Host: "node1", Slots: 1}}})
	}
	f.commands <- c
}

const benchSlots = 8

// BenchmarkSingles runs /bin/true on 8 slots, delivered one by one, through
// execd and the shepherd. Compare with BenchmarkBareFork.
func BenchmarkSingles(b *testing.B) {
	for _, where := range []struct{ name, dir string }{{"disk", ""}, {"memory", "/dev/shm"}} {
		b.Run(where.name, func(b *testing.B) { singles(b, where.dir) })
	}
}

// singles has the jobs' folders, Active and TMPDIR, below dir.
func singles(b *testing.B, dir string) {
	jobs, err := os.MkdirTemp(dir, "execd")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(jobs)
	base, err := os.MkdirTemp("", "execd")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(base)
	f := &feeder{qmaster: newQmaster(b), b: b, dir: base, slots: benchSlots, over: make(chan struct{})}
	f.tmp = jobs
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	b.ResetTimer()
	go func() {
		ended <- Run(ctx, Options{Host: "node1", Dir: filepath.Join(base, "spool"), Active: filepath.Join(jobs, "active"),
			Transport: f, Root: "/sge", Cell: "default", Conf: core.ParseConf(nil)})
	}()
	<-f.over
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
	b.ReportMetric(float64(f.tasks)/float64(b.N), "news/job")
	f.commands <- killAll
	<-ended
	cancel()
}

// BenchmarkBareFork is what the machine can do: 8 workers that run /bin/true.
func BenchmarkBareFork(b *testing.B) {
	var wg sync.WaitGroup
	work := make(chan struct{})
	for range benchSlots {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range work {
				exec.Command("/bin/true").Run()
			}
		}()
	}
	b.ResetTimer()
	for range b.N {
		work <- struct{}{}
	}
	close(work)
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}
