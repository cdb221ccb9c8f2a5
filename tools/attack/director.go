package attack

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/quill-grid/quill/execd/shepherd"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/attack/attacker"
)

// options say how a cell is attacked. Zero values are the defaults of Command.
type options struct {
	Duration         time.Duration
	Only             []string // names of attacks or of their families; none: all
	Subject          string   // only subjects with this text
	Short            bool     // only those that are a part of the short attack, and none alone
	Seed             uint64
	Honest, Attacker string
	Untimed          bool // bars that are times are shown, not judged
	Nice             int  // of what is on other machines in a real cell
	Keep             bool // leave the cell's directory
	JSON             bool // the report is a document
}

// director attacks a cell.
type director struct {
	options
	env    opt.Env
	s      *site
	c      *canaries
	h      *honest
	w      *watch
	fields []*field
	report outcome
	begun  time.Time // of the attack

	configured map[string]string // the configuration before
	versions   map[uint32]uint32 // of the honest user's jobs
}

// field is the process of one attack in one role, over all its times.
type field struct {
	attack attacker.Attack
	role   bus.Role

	alone struct {
		qsub quantiles
		peak usage
	}

	mu            sync.Mutex
	done, refused int64
	breaches      []string
	covered       map[string]int
	jobs          []uint32 // that the director looks at
	failed        string   // why an attack could not continue
}

func (f *field) name() string { return fmt.Sprintf("%s (%s)", f.attack.Name, f.role) }

// attackCell attacks a cell and prints a report. The error says that it could not be
// attacked; held is whether all bars were kept.
func attackCell(ctx context.Context, env opt.Env, o options) (held bool, err error) {
	d := &director{options: o, env: env}
	if err := d.choose(); err != nil {
		return false, err
	}
	if d.s, err = newSite(env, o.Honest, o.Attacker, o.Nice); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, d.s.close(o.Keep)) }()
	if err := d.setUp(ctx); err != nil {
		return false, err
	}
	watching, enough := context.WithCancel(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	defer enough()
	beside.Go(func() { d.w.run(watching) })
	beside.Go(func() { d.s.publishListeners(watching) })

	if err := d.idle(ctx); err != nil {
		return false, err
	}
	working, stop := context.WithCancel(ctx)
	beside.Go(func() { d.h.work(working) })
	err = d.attack(ctx)
	stop()
	if err != nil {
		return false, err
	}
	d.after(ctx)
	enough()
	d.report.late = d.s.stop()
	if o.JSON {
		report := d.report.document()
		return report.Held, errors.Join(document.Write(env.Stdout, report), ctx.Err())
	}
	return d.report.print(env.Stdout), ctx.Err()
}

// choose makes the fields.
func (d *director) choose() error {
	some := attacker.Attacks
	if len(d.Only) > 0 {
		var unknown string
		if some, unknown = attacker.Find(d.Only); unknown != "" {
			return fmt.Errorf("unknown attack %q; --list names them", unknown)
		}
	}
	var left []string
	for _, a := range some {
		switch {
		case d.Short && !a.Short && len(d.Only) == 0:
			continue
		case a.Local && os.Getuid() != 0:
			left = append(left, a.Name)
			continue
		}
		for _, role := range a.Roles {
			d.fields = append(d.fields, &field{attack: a, role: role, covered: map[string]int{}})
		}
	}
	if len(left) > 0 {
		d.progress("left out, for this is not root and cannot be another user: %s", strings.Join(left, ", "))
	}
	if len(d.fields) == 0 {
		return errors.New("no attack is left")
	}
	return nil
}

func (d *director) progress(format string, args ...any) {
	fmt.Fprintf(d.env.Stderr, "attack: "+format+"\n", args...)
}

func (d *director) setUp(ctx context.Context) (err error) {
	if d.c, err = newCanaries(d.s); err != nil {
		return err
	}
	d.progress("a cell in %s; honest user %s, attacker %s, seed %d", d.s.dir, d.s.honest.name, d.s.attacker.name, d.Seed)
	d.s.orphanTime = fmt.Sprintf("97531.%06d", d.Seed%1_000_000)
	if err := d.s.start(ctx); err != nil {
		return err
	}
	if err := d.s.configure(ctx, d.c); err != nil {
		return err
	}
	d.h = &honest{s: d.s, c: d.c, samples: map[string][]served{}}
	d.w = &watch{daemons: d.s.daemons, now: map[string]usage{}, samples: map[string][]usage{}}
	if d.report.sleepers, err = d.h.sleepers(ctx); err != nil {
		return err
	}
	if err := d.h.logIn(ctx); err != nil {
		return err
	}
	if err := d.s.wait(ctx, "running jobs", func() bool { return d.running(ctx) == len(d.s.hosts) }); err != nil {
		return err
	}
	d.versions = map[uint32]uint32{}
	d.s.each(ctx, grid.KindJob, func(o grid.Object) { d.versions[o.(*grid.Job).ID] = o.(*grid.Job).Version })
	d.configured, err = d.configuration(ctx)
	return err
}

// running is how many of the honest user's jobs that never end run.
func (d *director) running(ctx context.Context) (n int) {
	d.s.each(ctx, grid.KindJATask, func(o grid.Object) {
		if t := o.(*grid.JATask); slices.Contains(d.report.sleepers, t.Job) && t.Status == grid.Running {
			n++
		}
	})
	return n
}

// idle measures the cell before the attack.
func (d *director) idle(ctx context.Context) error {
	long := min(max(d.Duration/10, 3*time.Second), 20*time.Second)
	d.progress("measuring the idle cell for %v", long)
	working, stop := context.WithTimeout(ctx, long)
	defer stop()
	begun := time.Now()
	d.h.work(working)
	d.report.idle, d.report.idleUse = d.used(begun), map[string]usage{}
	for _, daemon := range d.s.daemons {
		d.report.idleUse[daemon.name] = d.w.last(daemon.name)
	}
	d.report.shepherds = shepherd.Running(d.s.dir)
	for name, q := range d.report.idle {
		if q.failed > 0 {
			return fmt.Errorf("the honest user cannot work in an idle cell: %s: %s", name, q.why)
		}
	}
	return ctx.Err()
}

// used is how long each service took since a time.
func (d *director) used(since time.Time) map[string]quantiles {
	all := map[string]quantiles{}
	for _, s := range measured {
		all[s.name] = d.h.between(s.name, since, time.Now())
	}
	return all
}

// attack runs each attack alone in the first half of the time, all in the second. A
// short attack has the second half only.
func (d *director) attack(ctx context.Context) error {
	d.begun = time.Now()
	d.report.fields, d.report.untimed = d.fields, d.Untimed
	share := max(d.Duration/2/time.Duration(len(d.fields)), time.Second)
	if len(d.fields) == 1 {
		share = d.Duration
	}
	for _, f := range d.fields {
		if d.Short { // there is no time for that
			break
		}
		from := time.Now()
		if err := d.run(ctx, share, f); err != nil {
			return err
		}
		f.alone.qsub, f.alone.peak = d.h.between(qsubService, from, time.Now()), d.w.peak(qmasterName, from, time.Now())
		d.status(f.name())
		if strings.HasSuffix(f.attack.Name, string(attacker.Multiline)) {
			d.report.breaches = append(d.report.breaches, d.lines(ctx)...)
		}
	}
	if len(d.fields) > 1 || d.Short {
		from := time.Now()
		if err := d.run(ctx, max(d.Duration-time.Since(d.begun), share), d.fields...); err != nil {
			return err
		}
		d.report.all, d.report.allPeak = d.h.between(qsubService, from, time.Now()), d.w.peak(qmasterName, from, time.Now())
	}
	d.report.during, d.report.peak = d.used(d.begun), map[string]usage{}
	for _, daemon := range d.s.daemons {
		d.report.peak[daemon.name] = d.w.peak(daemon.name, d.begun, time.Now())
	}
	return nil
}

// status reports how it goes.
func (d *director) status(what string) {
	q, u := d.h.between(qsubService, d.begun, time.Now()), d.w.last(qmasterName)
	d.progress("%3.0f s of %.0f s  %-28s qsub p99 %s (idle %s)  qmaster %d MiB, %d files  %d daemons ended",
		time.Since(d.begun).Seconds(), d.Duration.Seconds(), what, ms(q.p99), ms(d.report.idle[qsubService].p99),
		u.memory>>20, u.files, len(d.s.crashes()))
}

// run runs attacks at the same time for so long.
func (d *director) run(ctx context.Context, long time.Duration, some ...*field) error {
	ctx, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	var fighting sync.WaitGroup
	if len(some) > 1 {
		fighting.Go(func() {
			for tick := time.NewTicker(5 * time.Second); ; {
				select {
				case <-ctx.Done():
					tick.Stop()
					return
				case <-tick.C:
					d.status("all at the same time")
				}
			}
		})
	}
	failed := make(chan error, len(some))
	for i, f := range some {
		fighting.Go(func() {
			if err := d.fight(ctx, f, d.Seed+uint64(i)); err != nil {
				failed <- fmt.Errorf("%s: %w", f.name(), err)
			}
		})
	}
	fighting.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// fieldWait is how long the process of an attack may take to end.
const fieldWait = 5 * time.Second

// fight runs the process of an attack until ctx ends, as the attacker.
func (d *director) fight(ctx context.Context, f *field, seed uint64) error {
	brief, err := json.Marshal(d.briefing(f, seed))
	if err != nil {
		return err
	}
	args := d.s.elsewhere(d.s.lab(), "attack", "be")
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(slices.Clone(d.env.Environ), "HOME="+d.s.attacker.home, "USER="+d.s.attacker.name, "GOMAXPROCS=2",
		"GOMEMLIMIT=512MiB")
	cmd.Dir, cmd.Stderr = d.s.attacker.home, d.env.Stderr
	d.s.as(cmd, d.s.attacker)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := d.s.startElsewhere(cmd, attackers); err != nil {
		return err
	}
	if _, err := in.Write(append(brief, '\n')); err != nil {
		return errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	reporting := make(chan struct{})
	go func() {
		f.follow(out)
		close(reporting)
	}()
	select {
	case <-ctx.Done():
	case <-reporting:
	}
	in.Close()
	end := time.AfterFunc(fieldWait, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	<-reporting
	err = cmd.Wait()
	end.Stop()
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // commands that it has started
	if ctx.Err() == nil {
		return fmt.Errorf("the process of the attack ended: %w", err)
	}
	return nil
}

// follow reads what the process of an attack reports.
func (f *field) follow(out io.Reader) {
	var before attacker.Progress
	f.mu.Lock()
	before.Done, before.Refused = f.done, f.refused
	f.mu.Unlock()
	lines := bufio.NewScanner(out)
	for lines.Buffer(nil, 16<<20); lines.Scan(); {
		var t attacker.Progress
		if json.Unmarshal(lines.Bytes(), &t) != nil {
			continue
		}
		f.mu.Lock()
		f.done, f.refused = before.Done+t.Done, before.Refused+t.Refused
		if t.Breach != "" && !slices.Contains(f.breaches, t.Breach) {
			f.breaches = append(f.breaches, t.Breach)
		}
		for subject, n := range t.Covered {
			f.covered[subject] += n
		}
		f.jobs = append(f.jobs, t.Jobs...)
		if t.Failed != "" {
			f.failed = t.Failed
		}
		f.mu.Unlock()
	}
}

// briefing is what the process of an attack is given.
func (d *director) briefing(f *field, seed uint64) *attacker.Field {
	dir := filepath.Join(d.s.attacker.home, f.attack.Name+"-"+string(f.role))
	if os.Mkdir(dir, 0o755) == nil {
		d.s.own(dir, d.s.attacker)
	}
	return &attacker.Field{
		Attack: f.attack.Name, Role: f.role, Name: d.s.names[f.role], Seed: seed, Cell: d.s.where, URL: d.s.url,
		Socket: f.role == bus.User && d.s.root, Key: d.s.keys[f.role], Dir: dir, Quill: d.s.quill(), Honest: d.s.honest.name,
		Secrets: d.c.secrets(), Closed: d.c.closed(), Hosts: d.s.hosts, Jobs: d.report.sleepers,
		Lab: d.s.lab(), Subject: d.Subject, Listeners: d.s.listenersFile(), Web: "http://" + d.s.web,
		Token: d.s.tokens.attacker, ReadToken: d.s.tokens.read,
		AgentToken: d.s.tokens.agent, Orphan: d.s.orphanTime,
	}
}
