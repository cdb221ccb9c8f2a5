package execd

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/core"
	"github.com/quill-grid/quill/execd/shepherd"
)

var steps = map[core.StepName]shepherd.StepName{
	core.Prolog: shepherd.Prolog, core.PEStart: shepherd.PEStart, core.Job: shepherd.Job, core.PEStop: shepherd.PEStop,
	core.Epilog: shepherd.Epilog,
}

var resources = map[string]shepherd.Resource{
	"cpu": shepherd.CPU, "fsize": shepherd.FSize, "data": shepherd.Data, "stack": shepherd.Stack, "core": shepherd.Core,
	"rss": shepherd.RSS, "vmem": shepherd.VMem, "descriptors": shepherd.NoFile, "maxproc": shepherd.NProc,
	"memorylocked": shepherd.MemLock, "locks": shepherd.Locks,
}

// shepherdPlan is a plan in the shepherd's terms, with programs found on the path
// and the accounts of "user@" looked up.
func (k *desk) shepherdPlan(p *core.Plan) (shepherd.Plan, error) {
	out := shepherd.Plan{
		Key:   keyOf(p.Attempt),
		Owner: ownerOf(&p.Owner), Cgroup: p.Cgroup,
		Spool: p.Spool,
		Dirs:  []shepherd.Dir{{Path: p.TmpDir, Mode: 0o755, Owned: true}},
		Env:   p.Env, Cwd: p.Cwd, Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr,
		Priority: int(p.Nice), Affinity: p.Affinity, Binding: p.Binding,
		Notify: seconds(p.NotifySeconds), NotifyKill: notifySignal(p.NotifyKill), NotifySuspend: notifySignal(p.NotifySuspend),
		Keep: p.Keep,
		Limits: shepherd.Limits{
			RT: shepherd.Bound(p.RT), CPU: shepherd.Bound(p.CPU), VMem: shepherd.Bound(p.VMem), Grace: seconds(p.GraceSeconds),
		},
	}
	for _, f := range p.Files {
		file := shepherd.File{Path: f.Path, Data: f.Data, Mode: 0o644}
		if f.Private {
			file.Mode, file.Owned = 0o600, true
		}
		out.Files = append(out.Files, file)
	}
	for _, l := range p.Limits {
		out.Limits.Rlimits = append(out.Limits.Rlimits, shepherd.Rlimit{Resource: resources[l.Name], Soft: l.Soft, Hard: l.Hard})
	}
	for _, s := range p.Steps {
		step := shepherd.Step{Name: steps[s.Name], Argv: s.Argv, Login: s.Login, Front: s.Front, Stdout: s.Stdout, Stderr: s.Stderr, Env: s.Env}
		if s.User == "" {
			step.Argv[0] = k.program(p.Owner.UID, s.Argv[0], p.Env)
		} else {
			a, known := k.accounts.of(s.User)
			as := ownerOf(&a)
			step.As, step.Environ = &as, append(s.Environ, "HOME="+a.Home)
			step.Argv[0] = k.program(a.UID, s.Argv[0], step.Environ)
			if err := k.d.site.Allow(s.User, a, known); err != nil {
				step = shepherd.Step{Name: step.Name, Argv: []string{""}, Refused: err.Error()} // no program: of an older shepherd
			}
		}
		out.Steps = append(out.Steps, step)
	}
	var err error
	for _, m := range []struct {
		to    *shepherd.Method
		words []string
		name  string
	}{
		{&out.Suspend, p.Suspend, "suspend_method"}, {&out.Resume, p.Resume, "resume_method"},
		{&out.Terminate, p.Terminate, "terminate_method"},
	} {
		if *m.to, err = shepherd.ParseMethod(m.words); err != nil {
			return out, fmt.Errorf("%s: %w", m.name, err)
		}
	}
	if p.Ckpt != nil {
		out.Ckpt, err = k.shepherdCkpt(p)
	}
	return out, err
}

// notifySignal is the signal of a NOTIFY_KILL or NOTIFY_SUSP. qmaster takes only
// names of signals; one that this system has not is the usual one.
func notifySignal(name string) int {
	switch {
	case name == "":
		return 0
	case strings.EqualFold(name, "none"):
		return shepherd.NoSignal
	}
	m, _ := shepherd.ParseMethod([]string{strings.ToUpper(name)})
	return m.Signal
}

// shepherdCkpt is the checkpointing of a plan in the shepherd's terms.
func (k *desk) shepherdCkpt(p *core.Plan) (out shepherd.Ckpt, err error) {
	c := p.Ckpt
	out = shepherd.Ckpt{Every: seconds(c.Seconds), Must: c.Must}
	var signal shepherd.Method
	if c.Signal != "" {
		if signal, err = shepherd.ParseMethod([]string{c.Signal}); err != nil || signal.Signal == 0 {
			return out, fmt.Errorf("checkpointing environment: %q is no signal", c.Signal)
		}
	}
	command := func(words []string) []string {
		if len(words) > 0 {
			words[0] = k.program(p.Owner.UID, words[0], p.Env)
		}
		return words
	}
	out.Make, out.Migrate, out.Clean = signal, signal, command(c.Clean)
	if len(c.Make) > 0 {
		out.Make = shepherd.Method{Argv: command(c.Make)}
	}
	if len(c.Migrate) > 0 {
		out.Migrate = shepherd.Method{Argv: command(c.Migrate)}
	}
	return out, nil
}

func ownerOf(a *core.Account) shepherd.Owner {
	return shepherd.Owner{UID: a.UID, GID: a.GID, Groups: a.Groups}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// program finds a name without a slash on the PATH, as execvp(3) does for
// `qsub -b y -shell n sleep`. One that is not there stays in the first folder
// of the PATH that could have held it, for the shepherd to say so.
func (k *desk) program(owner uint32, name string, env []string) string {
	if strings.Contains(name, "/") {
		return name
	}
	files := []string{}
	for _, v := range env {
		path, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range strings.Split(path, ":") {
			if strings.HasPrefix(dir, "/") {
				files = append(files, dir+"/"+name)
			}
		}
	}
	if len(files) == 0 {
		return "/" + name
	}
	found := -1
	look := func() {
		found = slices.IndexFunc(files, func(file string) bool { return unix.Access(file, unix.X_OK) == nil && !isDir(file) })
	}
	if !k.slow.Within(owner, lookPatience, look, func() {}) {
		return files[0]
	}
	return files[max(found, 0)]
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
