package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/view"
)

// downCommand stops a cell that `quill up` runs.
func downCommand(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "down", Usage: "stop the cell; running jobs continue unless --jobs is given",
		Flags: []cli.Flag{
			opt.DirFlag(),
			&cli.BoolFlag{Name: "jobs", Usage: "delete all jobs first and wait until they are gone"},
			opt.JSONFlag(),
		},
		Action: func(c *cli.Context) error {
			cell, err := opt.CellOf(env, c)
			if err != nil {
				return err
			}
			left, err := down(c.Context, cell, c.Bool("jobs"))
			if err != nil {
				return err
			}
			if left > 0 {
				fmt.Fprintf(env.Stderr, "warning: %s left on hosts that do not report\n", opt.Count(left, "task"))
			}
			return env.Did(c, document.Result{Did: "stopped", Text: fmt.Sprintf("cell %s is down", cell.Dir())})
		},
	}
}

// down stops a cell. It returns how many deleted tasks are left on hosts that do not report.
func down(ctx context.Context, cell cell.Cell, jobs bool) (left int, err error) {
	master, err := client.Connect(ctx, cell)
	if err != nil {
		return 0, err
	}
	defer master.Close()
	if jobs {
		if left, err = deleteAll(ctx, master); err != nil {
			return 0, err
		}
	}
	reply, err := master.Do(ctx, "quill", &gdi.Trigger{Action: "kill-qmaster"})
	if err != nil {
		return left, err
	}
	if err := reply.Err(); err != nil {
		return left, err
	}
	return left, poll(ctx, func() (bool, error) {
		_, err := os.Stat(cell.PIDFile())
		return errors.Is(err, os.ErrNotExist), nil
	})
}

// deleteAll deletes all jobs and waits until they are gone, except from hosts that do not report: when they end there
// is not known.
func deleteAll(ctx context.Context, c client.Client) (left int, err error) {
	if _, err := c.Do(ctx, "qdel", &gdi.DeleteJobs{Jobs: gdi.Jobs{Users: grid.Names{"*"}}}); err != nil {
		return 0, err
	}
	kinds := []grid.Kind{grid.KindLoad, grid.KindJob, grid.KindJATask}
	err = poll(ctx, func() (bool, error) {
		st := state.New()
		_, err := c.Get(ctx, gdi.Get{Kinds: kinds, Where: gdi.Where{Brief: true}}, func(o grid.Object) error {
			st.Apply(events.List{Events: []events.Event{events.Listed(o)}})
			return nil
		})
		left = 0
		gone := true
		st.Each(grid.KindJATask, func(o grid.Object) bool {
			t := o.(*grid.JATask)
			gone = t.Started()
			if gone {
				l := st.Load(t.Grants[0].Host)
				gone = l != nil && l.Unheard
			}
			left++
			return gone
		})
		return st.Len(grid.KindJob) == 0 || gone && left > 0, err
	})
	return left, err
}

// poll asks again and again until it is done.
func poll(ctx context.Context, done func() (bool, error)) error {
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// statusCommand says in a few lines how the cell is.
func statusCommand(env opt.Env) *cli.Command {
	env = env.Printable()
	return &cli.Command{
		Name: "status", Usage: "show the state of the cell in a few lines",
		Flags: []cli.Flag{opt.DirFlag(), opt.JSONFlag()},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return opt.Usagef("status takes no %q", c.Args().First())
			}
			cell, err := opt.CellOf(env, c)
			if err != nil {
				return err
			}
			s, err := statusOf(c.Context, cell)
			if err != nil {
				return err
			}
			if c.Bool("json") {
				return document.Write(env.Stdout, s.document())
			}
			_, err = fmt.Fprint(env.Stdout, s)
			return err
		},
	}
}

// status is what `quill status` prints.
type status struct {
	view.Summary
	cell     cell.Cell
	seq      uint64
	schedd   bool // one is registered
	places   []gdi.Stream
	unplaced error // why places are not known
}

func statusOf(ctx context.Context, cell cell.Cell) (*status, error) {
	s := &status{cell: cell}
	c, err := client.Connect(ctx, cell)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	// Jobs and tasks are counted as they come, which takes no memory.
	queues := state.New()
	kinds := []grid.Kind{grid.KindHGroup, grid.KindCQueue, grid.KindQInstance, grid.KindLoad,
		grid.KindJob, grid.KindJATask}
	s.seq, err = c.Get(ctx, gdi.Get{Kinds: kinds, Where: gdi.Where{Brief: true}}, func(o grid.Object) error {
		switch o.(type) {
		case *grid.HGroup, *grid.CQueue, *grid.QInstance, *grid.Load:
			queues.Apply(events.List{Events: []events.Event{events.Listed(o)}})
		}
		s.Add(o)
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.AddQueues(view.Of(queues))
	reply, err := c.Do(ctx, "quill", &gdi.Trigger{Action: "show-scheduler"})
	if err != nil {
		return nil, err
	}
	s.schedd = reply.OK()
	if reply, err = c.Do(ctx, "quill", &gdi.Streams{}); err == nil {
		err = reply.Err()
	}
	s.places, s.unplaced = reply.Streams, err
	return s, nil
}

// master returns the host of qmaster.
func (s *status) master() string {
	host, _ := os.ReadFile(s.cell.ActQMaster())
	return strings.TrimSpace(string(host))
}

// started counts the tasks that have started.
func (s *status) started() int { return s.Transfering + s.Running + s.Suspended }

func (s *status) document() document.Status {
	return document.Status{Cell: s.cell.Dir(), QMaster: s.master(), Seq: s.seq, Scheduler: s.schedd, Hosts: s.Hosts,
		Silent: s.Silent, Queues: s.Instances, Closed: s.Closed, Slots: s.Slots, Used: s.Used,
		Tasks:   document.TaskCounts{Running: s.started(), Waiting: s.Waiting, Held: s.Held, Error: s.InError},
		Streams: document.StreamsOf(s.places)}
}

// stored returns where the log is stored.
func (s *status) stored() string {
	l := gdi.EventLog(s.places)
	if l == nil {
		if s.unplaced != nil {
			return "not known: " + s.unplaced.Error()
		}
		return "not known"
	}
	text := "on " + cmp.Or(l.Leader, "no server that leads")
	if len(l.Replicas) == 0 {
		return text + ", no replica"
	}
	words := make([]string, len(l.Replicas))
	for i, r := range l.Replicas {
		words[i] = r.Server + " " + r.State()
	}
	return text + ", replicas: " + strings.Join(words, ", ")
}

func (s *status) String() string {
	schedd := "registered"
	if !s.schedd {
		schedd = "none: nothing is scheduled until quill schedd runs"
	}
	queues := ""
	if s.Closed > 0 && s.Closed == s.Instances {
		queues = fmt.Sprintf("queues   no job can start: %s, all disabled, suspended, unknown or in error; "+
			"see qstat -f -explain E\n", opt.Count(s.Instances, "queue instance"))
	}
	return fmt.Sprintf(
		"cell     %s\nqmaster  %s, at list %d of the log\nlog      %s\nschedd   %s\nhosts    %d, %d silent\n%sslots    %d, %d in use\ntasks    %d running, %d waiting, %d held, %d in error\n",
		s.cell.Dir(), s.master(), s.seq, s.stored(), schedd, s.Hosts, s.Silent, queues, s.Slots, s.Used,
		s.started(), s.Waiting, s.Held, s.InError)
}
