package shepherd

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/execd/procfs"
	"github.com/quill-grid/quill/pkg/report"
)

const benchWorkers = 8

// BenchmarkBare is the limit: workers that fork, exec and wait for /bin/true.
func BenchmarkBare(b *testing.B) {
	before := spent(os.Getpid())
	defer func() { b.ReportMetric((spent(os.Getpid())-before)/float64(b.N), "cpu-µs/op") }()
	var wg sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(b.N))
	for range benchWorkers {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				pid, err := syscall.ForkExec("/bin/true", []string{"true"}, &syscall.ProcAttr{})
				if err != nil {
					b.Error(err)
					return
				}
				var status syscall.WaitStatus
				var usage syscall.Rusage
				syscall.Wait4(pid, &status, 0, &usage)
			}
		})
	}
	wg.Wait()
}

// BenchmarkShepherd is the same through the shepherd: eight slots, each filled again as soon as its task ended; every
// end is forgotten. What execd usually asks for is there: spool directory, TMPDIR, output file.
func BenchmarkShepherd(b *testing.B) {
	for _, durable := range []bool{false, true} {
		for _, files := range []bool{false, true} {
			b.Run(fmt.Sprintf("durable=%t,files=%t", durable, files), func(b *testing.B) { benchShepherd(b, durable, files) })
		}
	}
}

// spent is the processor time a process and the children it waited for have used, in microseconds. Unlike the wall
// clock it does not say how busy the machine is with other things.
func spent(pid int) float64 {
	s, _ := procfs.ReadStat(pid)
	return float64(procfs.TicksToDuration(s.UserTicks + s.SysTicks).Microseconds())
}

func benchShepherd(b *testing.B, durable, files bool) {
	h := newHost(b)
	h.k.Close()
	h.connect(durable)
	env := append(os.Environ(), make([]string, 0, 40)...)
	for i := range 40 {
		env = append(env, fmt.Sprintf("SGE_VARIABLE_%d=/some/usual/value/%d", i, i))
	}
	next := func(n int) plan.Plan {
		p := plan.Plan{
			Attempt: report.Attempt{Job: uint32(n), Task: 1, N: 1}, Owner: me(), Cwd: "/", Env: env,
			Spool: filepath.Join(h.dir, fmt.Sprintf("%d.1", n)),
			Steps: []plan.Step{{Name: plan.Job, Argv: []string{"/bin/true"}}},
		}
		if files {
			p.Dirs = []plan.Dir{{Path: filepath.Join(h.dir, fmt.Sprintf("tmp.%d.1", n)), Mode: 0o755, Owned: true}}
			p.Stdout.Path = filepath.Join(h.dir, fmt.Sprintf("o%d", n))
		}
		return p
	}
	b.ResetTimer()
	started, ended := 0, 0
	var plans []plan.Plan
	for started < min(benchWorkers, b.N) {
		started++
		plans = append(plans, next(started))
	}
	h.start(plans...)
	for ended < b.N {
		var over []report.Attempt
		plans = plans[:0]
		for _, a := range <-h.k.Changes() {
			if a.State != plan.Ended {
				continue
			}
			ended++
			over = append(over, a.Attempt)
			if started < b.N {
				started++
				plans = append(plans, next(started))
			}
		}
		if len(plans) > 0 {
			go h.k.Start(h.ctx, append([]plan.Plan(nil), plans...))
		}
		if len(over) > 0 {
			go h.k.Forget(h.ctx, over...)
		}
	}
	b.ReportMetric(spent(shepherdPid(h.dir))/float64(b.N), "cpu-µs/op")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
}
