package workload

import (
	"container/heap"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// ReplayOptions say how a log is replayed.
type ReplayOptions struct {
	Conf       grid.SchedConf
	Processors int64
	Begin      grid.Time // when the log's seconds begin to count
	// Events has a scheduling pass after each submission and each end. Else there
	// is one in a second, which sees everything that happened in it.
	Events bool
	// Tasks submits a job of N processors as an array of N tasks of one processor,
	// for algorithms that know nothing else. A Replay then has each task for itself.
	Tasks bool
	// Project is the project of a job, one of Projects; nil: jobs have none.
	Project  func(*Job) string
	Projects []algorithm.Project
	// Log follows the event lists, from the full state of the empty cell on; nil:
	// they are not followed.
	Log events.Sink
	// Progress is called now and then with the progress: jobs ended, of how many, and
	// how many wait. It may be nil.
	Progress func(ended, waiting int)
}

// Replay is what became of a log.
type Replay struct {
	Processors int64
	Algorithm  string              // as sched_conf(5) names it
	Jobs       []Job               // or tasks
	Starts     []int64             // seconds of the log, by place in Jobs
	Lost       []Lost              // attempts before the last, whose work was lost
	Stood      map[int]int64       // seconds that jobs stood still in the end, preempted, by place
	Projects   []algorithm.Project // none: not asked for
	Of         []int               // each job's place in Projects
	Passes     int                 // scheduling runs
	Refused    int                 // orders that qmaster refused
	Took       time.Duration
}

// Lost is an attempt that the algorithm ended, so that the job waited again.
type Lost struct {
	Job        int   // place in Jobs
	Start, End int64 // seconds of the log
}

// clock lets time pass for one cell.
type clock struct {
	ReplayOptions
	*Replay
	cell    *cell
	context context.Context
	now     int64 // second of the log
	next    int   // the first job that is not submitted
	again   int64 // second of a pass that is due though nothing happens
	first   uint32
	jobs    []int // places of the first tasks, by job number
	running running
	still   map[report.Attempt]*process // suspended; end is what is left of them
	starts  int
	ended   int
	stale   bool // something happened since the last pass
	news    []report.Task
	reason  string // of an order's refusal
}

// process is a started job.
type process struct {
	end      int64
	started  int // counts starts
	index    int // of the job
	attempt  report.Attempt
	reported bool  // that it ended
	since    int64 // it stands still
}

// running are the processes by end, then by start.
type running []*process

func (r running) Len() int { return len(r) }
func (r running) Less(i, j int) bool {
	return r[i].end < r[j].end || r[i].end == r[j].end && r[i].started < r[j].started
}
func (r running) Swap(i, j int) { r[i], r[j] = r[j], r[i] }
func (r *running) Push(x any)   { *r = append(*r, x.(*process)) }
func (r *running) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}

// Run replays jobs, which stand in queue order, until all have ended.
func Run(ctx context.Context, jobs []Job, o ReplayOptions) (*Replay, error) {
	if o.Tasks {
		jobs = tasks(jobs)
	}
	c := &clock{ReplayOptions: o, context: ctx, Replay: &Replay{Processors: o.Processors, Algorithm: o.Conf.Algorithm,
		Jobs: jobs, Starts: make([]int64, len(jobs))}, still: map[report.Attempt]*process{}}
	c.Stood = map[int]int64{}
	begun := time.Now()
	c.projects()
	var err error
	if c.cell, err = newCell(o); err != nil {
		return nil, err
	}
	err = c.replay()
	c.Took = time.Since(begun)
	return c.Replay, err
}

// tasks are the jobs in pieces of one processor. A piece has the number of its
// job, and how many come with it stands in Allocated.
func tasks(jobs []Job) (out []Job) {
	for _, j := range jobs {
		n := j.Requested
		j.Requested, j.Allocated = 1, n
		for range n {
			out = append(out, j)
		}
	}
	return out
}

// replay goes from second to second in which something happens.
func (c *clock) replay() error {
	for seconds := 0; c.advance(); seconds++ {
		second := c.batch
		if c.Events {
			second = c.events
		}
		if err := second(); err != nil {
			return fmt.Errorf("second %d: %w", c.now, err)
		}
		if c.Refused > 0 {
			return fmt.Errorf("second %d: qmaster refused %d orders: %s", c.now, c.Refused, c.reason)
		}
		if seconds%1024 == 0 {
			if err := c.context.Err(); err != nil {
				return err
			}
			if c.Progress != nil {
				c.Progress(c.ended, c.cell.pending)
			}
		}
	}
	if n := c.cell.pending; n > 0 {
		return fmt.Errorf("second %d: the pool is empty and %d jobs wait: no pass starts them", c.now, n)
	}
	if n := len(c.still); n > 0 {
		return fmt.Errorf("second %d: the pool is empty and %d jobs are suspended: no run lets them continue", c.now, n)
	}
	return nil
}

// advance goes to the next second in which something happens.
func (c *clock) advance() bool {
	next := int64(math.MaxInt64)
	if c.next < len(c.Jobs) {
		next = c.Jobs[c.next].Submit
	}
	if len(c.running) > 0 {
		next = min(next, c.running[0].end)
	}
	if c.again > c.now && c.cell.pending+len(c.still) > 0 && c.again <= next {
		next, c.stale = c.again, true
	}
	c.now = next
	return next < math.MaxInt64
}

func (c *clock) time() grid.Time { return c.Begin + grid.Time(c.now)*1000 }

// batch is a second in which one pass sees all ends and all submissions.
func (c *clock) batch() error {
	c.news = c.news[:0]
	for c.ends() {
		c.news = append(c.news, c.result(heap.Pop(&c.running).(*process)))
	}
	if err := c.reportEnds(); err != nil {
		return err
	}
	for c.submits() {
		if err := c.submit(); err != nil {
			return err
		}
	}
	return c.pass()
}

// events is a second with a pass after each submission, then after each end.
// A job that has reached its estimate counts as gone from the first pass on.
func (c *clock) events() error {
	var over []*process
	c.news = c.news[:0]
	for c.ends() {
		p := heap.Pop(&c.running).(*process)
		if j := &c.Jobs[p.index]; j.Run == j.Estimate {
			c.news = append(c.news, c.result(p))
			p.reported = true
		}
		over = append(over, p)
	}
	if err := c.reportEnds(); err != nil {
		return err
	}
	for c.submits() {
		if err := c.submit(); err != nil {
			return err
		}
		if err := c.pass(); err != nil {
			return err
		}
	}
	for _, p := range over {
		if !p.reported {
			c.news = append(c.news[:0], c.result(p))
			if err := c.reportEnds(); err != nil {
				return err
			}
		}
		if err := c.pass(); err != nil {
			return err
		}
	}
	return nil
}

func (c *clock) ends() bool { return len(c.running) > 0 && c.running[0].end == c.now }
func (c *clock) submits() bool {
	return c.next < len(c.Jobs) && c.Jobs[c.next].Submit == c.now
}

// result is what the execution daemon says of a process that has ended.
func (c *clock) result(p *process) report.Task {
	j := &c.Jobs[p.index]
	c.ended++
	return report.Task{Attempt: p.attempt, Phase: report.Ended,
		Usage:  grid.Usage{WallSeconds: float64(c.now - c.Starts[p.index]), CPU: float64(j.Run * j.Requested)},
		Result: &report.Result{Start: c.Begin + grid.Time(c.Starts[p.index])*1000, End: c.time()}}
}

// reportEnds reports the progress.
func (c *clock) reportEnds() error {
	if len(c.news) == 0 {
		return nil
	}
	c.stale = true
	return c.cell.end(c.time(), c.news)
}

// submit submits the next job.
func (c *clock) submit() error {
	j, n := &c.Jobs[c.next], 1
	if c.Tasks {
		n = int(j.Allocated)
	}
	id, err := c.cell.submit(c.time(), j, n)
	if c.next == 0 {
		c.first = id
	}
	c.jobs = append(c.jobs, c.next)
	c.next += n
	c.stale = true
	return err
}

// pass decides, if anything has changed and anybody waits.
func (c *clock) pass() error {
	if !c.stale || c.cell.pending+len(c.still) == 0 {
		return nil
	}
	if due := c.cell.due(c.time()); due > c.time() {
		c.again = c.second(due)
		return nil
	}
	c.stale = false
	c.Passes++
	c.news = c.news[:0]
	if refused := c.cell.pass(c.time(), c.started, c.signalled); len(refused) > 0 {
		c.Refused += len(refused)
		c.reason = refused[0].Reason
	}
	if at := c.cell.Wake(); at > 0 {
		c.again = max(c.second(at), c.now+1)
	}
	if len(c.news) > 0 {
		c.again = c.now + 1
		return c.reportEnds()
	}
	return nil
}

// second is the second of the log in which a time is, or ends.
func (c *clock) second(at grid.Time) int64 { return int64(at-c.Begin+999) / 1000 }

// signalled does to an attempt what qmaster says: it has to wait again, stands
// still for a while, or continues.
func (c *clock) signalled(a report.Attempt, kind report.SignalKind) {
	p, stands := c.still[a]
	if delete(c.still, a); !stands {
		i := slices.IndexFunc(c.running, func(p *process) bool { return p.attempt == a })
		if i < 0 {
			return
		}
		p = heap.Remove(&c.running, i).(*process)
		p.end -= c.now
	}
	switch kind {
	case report.Suspend:
		p.since = c.now
		c.still[a] = p
	case report.Resume:
		c.Stood[p.index] += c.now - p.since
		p.end += c.now
		heap.Push(&c.running, p)
	default:
		start := c.Starts[p.index]
		delete(c.Stood, p.index)
		c.Lost = append(c.Lost, Lost{p.index, start, c.now})
		c.news = append(c.news, report.Task{Attempt: a, Phase: report.Ended,
			Usage:  grid.Usage{WallSeconds: float64(c.now - start)},
			Result: &report.Result{Start: c.time() - grid.Time(c.now-start)*1000, End: c.time()}})
	}
}

// started notes a start.
func (c *clock) started(t *grid.JATask) {
	index := c.jobs[t.Job-c.first] + int(t.ID) - 1
	c.starts++
	c.Starts[index] = c.now
	heap.Push(&c.running, &process{
		end: c.now + c.Jobs[index].Run, started: c.starts, index: index,
		attempt: report.Attempt{Job: t.Job, Task: t.ID, N: t.Attempt},
	})
}

// Begin is when a log's seconds begin to count: its UnixStartTime, or a moment
// long ago for one without it.
func Begin(l SWF) grid.Time {
	if n, err := strconv.ParseInt(l.Field("UnixStartTime"), 10, 64); err == nil && n > 0 {
		return grid.Time(n) * 1000
	}
	return 1_000_000_000_000
}
