package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/execd"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/qmaster"
	"github.com/quill-grid/quill/schedd"
	"github.com/quill-grid/quill/tools/daemons"
	"github.com/quill-grid/quill/tools/web"
)

// processPart is what a process of a throw-away cell is to be. It reads it as one line
// of JSON on standard input.
type processPart struct {
	// cell: all in one; qmaster, schedd, execd, web: that alone; command: no part, see weighed; echo: see echoRate;
	// listings, flood: other users, see fair; readers, compute: see api
	Role    string
	Cell    cell.Cell
	Quill   string   // the program quill
	Command []string // command: program name and arguments
	// command: file for its standard output; listings: for how long each took; web: for its address; readers: for what
	// came when
	Output       string
	Host         string // execd: its name
	Hosts, Slots int    // cell
	Listed       string // listings: whose jobs
	Flood        int    // flood: how many jobs; 0: until it is stopped
	URL, Token   string // readers: of quill web
	Readers      int    // readers: how many
	Discard      bool   // readers: have the system discard what comes
	Until        uint64 // readers: the last event list; 0: until they are stopped
	Nice         int
	Idle         bool // runs when nothing else wants to
	Durable      bool
	Scratch      string
	CPUProfile   string
	MemProfile   string
}

// readyLine is what a part says on standard output when it serves.
const readyLine = "ready\n"

// Part is a process of a throw-away cell. It ends cleanly with ctx and with its
// standard input: it does not outlive the bench that started it.
func Part(ctx context.Context, env opt.Env) (err error) {
	in := bufio.NewReader(env.Stdin)
	assignment, err := in.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("part: no instructions on standard input: %w", err)
	}
	var p processPart
	if err := json.Unmarshal(assignment, &p); err != nil {
		return fmt.Errorf("part: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		io.Copy(io.Discard, in)
		cancel()
	}()
	if p.CPUProfile != "" {
		f, err := os.Create(p.CPUProfile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer func() {
			pprof.StopCPUProfile()
			err = errors.Join(err, f.Close())
		}()
	}
	if p.Idle {
		if err := idle(); err != nil {
			return fmt.Errorf("part: SCHED_IDLE: %w", err)
		}
	}
	return p.be(ctx, env)
}

func (p processPart) be(ctx context.Context, env opt.Env) error {
	log := hclog.New(&hclog.LoggerOptions{Name: p.Role, Output: env.Stderr, Level: hclog.Warn})
	master := daemons.WithRules(qmaster.Options{Cell: p.Cell, Durable: p.Durable, Log: log})
	ready := func() { io.WriteString(env.Stdout, readyLine) }
	switch p.Role {
	case "cell":
		up := &daemons.Up{Cell: p.Cell, Master: master, Log: log, Hosts: p.Hosts, Slots: p.Slots, Durable: p.Durable,
			Scratch: p.Scratch, Shepherd: p.shepherd()}
		return errors.Join(up.Run(ctx, ready), p.weigh())
	case "qmaster":
		q, err := qmaster.Start(ctx, master)
		if err != nil {
			return err
		}
		ready()
		select {
		case <-ctx.Done():
		case <-q.Ended():
		}
		return errors.Join(p.weigh(), q.Stop())
	case "command":
		return p.command(ctx, env)
	case "listings":
		return p.listings(ctx, ready)
	case "flood":
		return p.flood(ctx, env, ready)
	case "echo":
		return p.echo(ctx, ready)
	case "web":
		failed := make(chan error, 1)
		served := func(url string) { failed <- os.WriteFile(p.Output, []byte(url), 0o600); ready() }
		err := daemons.Web(ctx, p.Cell, nil, web.Options{Listen: "127.0.0.1:0", Logger: log, Ready: served})
		select {
		case cannot := <-failed:
			err = errors.Join(err, cannot)
		default:
		}
		return errors.Join(err, p.weigh())
	case "readers":
		if p.Discard {
			return p.discard(ctx, ready)
		}
		return p.readers(ctx, ready)
	case "compute":
		return compute(ctx, ready)
	case "schedd":
		ready()
		return errors.Join(daemons.Schedd(ctx, p.Cell, schedd.Options{Logger: log}), p.weigh())
	case "execd":
		ready()
		return daemons.Execd(ctx, p.Cell, execd.Options{Host: p.Host, Durable: p.Durable, Logger: log, Program: p.shepherd()})
	}
	return fmt.Errorf("part: unknown role %q", p.Role)
}

// shepherd starts the shepherd of a host's jobs.
func (p processPart) shepherd() []string { return []string{p.Quill, "shepherd"} }

// weight is what a command took.
type weight struct {
	Wall time.Duration
	Peak int64 // most memory it had, in bytes
}

// command runs a command and says what it took. The system
// counts the memory of whoever starts a process as the process's own peak, so
// a small process has to do that.
func (p processPart) command(ctx context.Context, env opt.Env) error {
	out, err := os.Create(p.Output)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.CommandContext(ctx, p.Quill, p.Command[1:]...)
	cmd.Args[0] = p.Command[0]
	cmd.Stdout, cmd.Stderr = out, env.Stderr
	begun := time.Now()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", p.Command[0], err)
	}
	w := weight{Wall: time.Since(begun), Peak: cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10}
	return json.NewEncoder(env.Stdout).Encode(w)
}

// weigh writes the profile of the memory in use.
func (p processPart) weigh() error {
	if p.MemProfile == "" {
		return nil
	}
	f, err := os.Create(p.MemProfile)
	if err != nil {
		return err
	}
	runtime.GC()
	return errors.Join(pprof.WriteHeapProfile(f), f.Close())
}
