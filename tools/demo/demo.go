package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/qmaster"
	"github.com/quill-grid/quill/tools/daemons"
	"github.com/quill-grid/quill/tools/web"
)

// Options say how the demo is shown.
type Options struct {
	Span time.Duration // how long the submissions take; 0: 25 s
	Jobs int           // how many of the log: JobsMin to JobsMax; not for Algorithms
	Keep bool          // leave the cell's directory for a look afterwards
	Web  bool          // serve the cell's pages, until ctx ends
}

const hosts, slots = 4, 100

// JobsMin and JobsMax bound Options.Jobs: the log has 300 jobs, and fewer than 15 show little.
const JobsMin, JobsMax = 15, 300

// Run shows the demo. The error says what went wrong; a demo in which a job
// was lost is an error too.
func Run(ctx context.Context, env opt.Env, o Options) error {
	if o.Span == 0 {
		o.Span = 25 * time.Second
	}
	if o.Jobs < JobsMin || o.Jobs > JobsMax {
		return opt.Usagef("--jobs must be %d to %d, not %d", JobsMin, JobsMax, o.Jobs)
	}
	return onCell(ctx, env, o, hosts, slots, func(ctx context.Context, d *demo) error { return d.show(ctx, o) })
}

// onCell shows something on a throw-away cell.
func onCell(
	ctx context.Context, env opt.Env, o Options, hosts, slots int, show func(context.Context, *demo) error,
) (err error) {
	dir, err := os.MkdirTemp("", "quill-demo-")
	if err != nil {
		return err
	}
	if !o.Keep {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	quill, err := opt.Program("quill")
	if err != nil {
		return err
	}
	d := &demo{Env: env, where: cell.Cell{Root: dir, Name: cell.DefaultName}, quill: quill, begun: time.Now()}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	up := &daemons.Up{
		Cell: d.where, Log: hclog.New(&hclog.LoggerOptions{Output: env.Stderr, Level: hclog.Warn}),
		Hosts: hosts, Slots: slots,
	}
	if o.Web {
		up.Web, up.WebElse = web.DefaultListen, true
	}
	up.Master = qmaster.Options{Cell: d.where, Log: up.Log.Named("qmaster")}
	ready, down := make(chan struct{}), make(chan error, 1)
	go func() { down <- up.Run(ctx, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-down:
		return err
	}
	fmt.Fprintf(env.Stdout, "A cell of %d hosts with %d slots is up in %s (%.2f s).\n", hosts, slots, d.where.Dir(),
		time.Since(d.begun).Seconds())
	if o.Web {
		err = d.openPages(ctx)
	}
	if err == nil {
		err = show(ctx, d)
	}
	if o.Web && err == nil {
		fmt.Fprintf(env.Stdout,
			"The run can be looked at, at any moment of it, at %s/ until this program is interrupted (Ctrl-C).\n", up.API())
		<-ctx.Done()
	}
	cancel()
	if e := <-down; err == nil {
		err = e
	}
	switch {
	case o.Keep:
		fmt.Fprintf(env.Stdout, "The cell is kept, with its pages at http://%s/: SGE_ROOT=%s quill up\n",
			web.DefaultListen, dir)
	case !o.Web && err == nil:
		fmt.Fprintf(env.Stdout, "To look at a run in a browser, live and afterwards, at http://%s/: quill demo --web\n",
			web.DefaultListen)
	}
	return err
}

// openPages prints the link that logs a browser in.
func (d *demo) openPages(ctx context.Context) error {
	link, err := d.command(ctx, "", "web", "--open")
	if err == nil {
		fmt.Fprintf(d.Stdout, "Watch it in a browser, which this link logs in once: %s\n", link)
	}
	return err
}

// command runs a command as a user of the cell types it, and returns what it printed. An error says what it printed on
// stderr.
func (d *demo) command(ctx context.Context, stdin string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, d.quill, args...)
	cmd.Env = slices.Concat(d.Environ, d.where.Environ(), []string{grid.TokenVariable + "="})
	cmd.Dir, cmd.Stdin = d.where.Root, strings.NewReader(stdin)
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%s: %s", strings.Join(args, " "), cmp.Or(strings.TrimSpace(string(exit.Stderr)), exit.Error()))
	}
	return strings.TrimSpace(string(out)), err
}

// demo is one showing.
type demo struct {
	opt.Env
	where     cell.Cell
	quill     string
	begun     time.Time
	submitted atomic.Int64
	expected  int // attempts' ends in the accounting, reruns aside
}

func (d *demo) show(ctx context.Context, o Options) error {
	c, err := client.Connect(ctx, d.where)
	if err != nil {
		return err
	}
	defer c.Close()
	jobs, err := workload(o.Span, o.Jobs)
	if err != nil {
		return err
	}
	if err := parallel(ctx, c); err != nil {
		return err
	}
	fmt.Fprintf(
		d.Stdout, "Submitting the first %d jobs of the KTH SP2 log (1996), its days squeezed into %s, and a few more.\n",
		len(jobs), o.Span)
	facts := &facts{}
	go c.Watch(ctx, client.Watcher{Fresh: func() events.Sink { return facts }})
	fed := make(chan error, 1)
	begun := time.Now()
	go func() { fed <- d.feed(ctx, jobs) }()
	if err := d.watch(ctx, c, fed); err != nil {
		return err
	}
	return d.summary(ctx, facts, time.Since(begun))
}

// parallel makes the parallel environment that the jobs ask for.
func parallel(ctx context.Context, c client.Client) error {
	pe := grid.DefaultPE("mpi")
	pe.Slots, pe.AllocationRule = 999, "$fill_up"
	var queue *grid.CQueue
	_, err := c.Get(ctx, gdi.Get{Kinds: []grid.Kind{grid.KindCQueue}}, func(o grid.Object) error {
		queue = o.(*grid.CQueue)
		return nil
	})
	if err != nil {
		return err
	}
	queue.PEList.Value = append(queue.PEList.Value, pe.Name)
	for _, b := range []gdi.Body{&gdi.Add{Objects: []grid.Object{pe}}, &gdi.Modify{Objects: []grid.Object{queue}}} {
		reply, err := c.Do(ctx, "qconf", b)
		if err == nil {
			err = reply.Err()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// feed submits everything in its time.
func (d *demo) feed(ctx context.Context, jobs []job) error {
	begun := time.Now()
	extra := map[int]func(context.Context) error{len(jobs) / 15: d.array, len(jobs) / 5: d.chain, len(jobs) / 3: d.retried}
	for i, j := range jobs {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(j.submit - time.Since(begun)):
		}
		args := []string{"-N", fmt.Sprintf("kth%d", j.number), "-b", "y", "-shell", "n", "-o", "/dev/null", "-j", "y"}
		if j.slots > 1 {
			args = append(args, "-pe", "mpi", fmt.Sprint(j.slots))
		}
		if _, err := d.qsub(ctx, "", append(args, "sleep", fmt.Sprintf("%.3f", j.run.Seconds()))...); err != nil {
			return err
		}
		if more := extra[i]; more != nil {
			if err := more(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// qsub runs the command as a user would and returns the job's number.
func (d *demo) qsub(ctx context.Context, script string, args ...string) (string, error) {
	job, err := d.command(ctx, script, append([]string{"qsub", "-terse"}, args...)...)
	if err != nil {
		return "", err
	}
	d.submitted.Add(1)
	d.expected++
	return job, nil
}

func (d *demo) array(ctx context.Context) error {
	_, err := d.qsub(ctx, "#$ -N array -t 1-20 -tc 5 -o /dev/null -j y\nsleep 0.2\n")
	d.expected += 19
	return err
}

func (d *demo) chain(ctx context.Context) error {
	before := ""
	for _, name := range []string{"prepare", "compute", "collect"} {
		script := "#$ -N " + name + " -o /dev/null -j y\n"
		if before != "" {
			script += "#$ -hold_jid " + before + "\n"
		}
		id, err := d.qsub(ctx, script+"sleep 0.3\n")
		if err != nil {
			return err
		}
		before = id
	}
	return nil
}

// retried ends with 99 the first time, which asks to be put back.
func (d *demo) retried(ctx context.Context) error {
	_, err := d.qsub(ctx, "#$ -N retried -r y -o /dev/null -j y\n[ \"$RESTARTED\" = 1 ] || exit 99\nexit 0\n")
	return err
}

// watch shows what happens until everything submitted is over.
func (d *demo) watch(ctx context.Context, c client.Client, fed <-chan error) error {
	terminal := isTerminal(d.Stdout)
	every := 2 * time.Second
	if terminal {
		every = 200 * time.Millisecond
	}
	begun := time.Now()
	over := false
	for {
		n, err := count(ctx, c)
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%5.1f s  submitted %3d  waiting %3d  running %3d  slots %3d/%d  %s",
			time.Since(begun).Seconds(), d.submitted.Load(), n.waiting, n.running, n.slots, slots, bar(n.slots, slots, 30))
		if terminal {
			fmt.Fprint(d.Stdout, "\r\x1b[K"+line)
		} else {
			fmt.Fprintln(d.Stdout, line)
		}
		if over && n.waiting+n.running == 0 {
			if terminal {
				fmt.Fprintln(d.Stdout)
			}
			return nil
		}
		select {
		case err := <-fed:
			if err != nil {
				return err
			}
			over, fed = true, nil
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(every):
		}
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func bar(n, of, width int) string {
	full := n * width / of
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", width-full) + "]"
}

// tally is a look at the cell.
type tally struct{ waiting, running, slots int }

func count(ctx context.Context, c client.Client) (n tally, err error) {
	_, err = c.Get(ctx, gdi.Get{Kinds: []grid.Kind{grid.KindJob, grid.KindJATask}, Where: gdi.Where{Brief: true}},
		func(o grid.Object) error {
			switch o := o.(type) {
			case *grid.Job:
				n.waiting += int(o.Pending.Count())
			case *grid.JATask:
				if o.Started() {
					n.running++
					n.slots += int(o.Slots())
				} else {
					n.waiting++
				}
			}
			return nil
		})
	return n, err
}
