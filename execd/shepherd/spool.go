package shepherd

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/quill-grid/quill/pkg/report"
)

// The files of an attempt's spool directory that prologs, epilogs and wrappers read. They are Grid Engine's; config and
// pe_hostfile come with the plan. What is not known cannot be written: a file that fails is missing.
const (
	environmentFile = "environment" // of the job: NAME=VALUE lines
	pidFile         = "pid"         // the process that supervises the job
	jobPidFile      = "job_pid"     // the job's first process
	traceFile       = "trace"       // what has happened so far
	usageFile       = "usage"       // of the job, once it has ended
	errorFile       = "error"       // what went wrong
	statusFile      = "exit_status" // the failure code of sge_status(5), once all is over
)

// spoolNames are the files that an attempt has written into its spool directory, or may have, for
// them to be removed without looking.
func (p *Plan) spoolNames() (names []string) {
	names = append(names, environmentFile, pidFile, jobPidFile)
	if p.watched() {
		names = append(names, traceFile, errorFile, statusFile, usageFile)
	}
	for _, f := range p.Files {
		if name, ok := strings.CutPrefix(f.Path, p.Spool+"/"); ok {
			names = append(names, name)
		}
	}
	return names
}

// note writes a file of the spool directory once the attempt has begun: it goes on without.
func (k *shepherd) note(p *Plan, f File) {
	f.Path = p.Spool + "/" + f.Path
	if err := k.writeFile(f, p.Owner); err != nil && exists(p.Spool) {
		k.logf("%s: %v", p.Key, err)
	}
}

// noteStart writes what is known before the first step. Jobs that are steps of nothing more, which are most, do without
// the files that only others would read.
func (k *shepherd) noteStart(p *Plan) error {
	var env strings.Builder
	for _, v := range p.Env {
		env.WriteString(strings.ReplaceAll(v, "\n", `\n`))
		env.WriteByte('\n')
	}
	files := []File{
		{Path: environmentFile, Data: []byte(env.String()), Mode: 0o600, Owned: true}, // may hold secrets
		{Path: pidFile, Data: []byte(k.pid), Mode: 0o644},
	}
	if p.watched() {
		trace := File{Path: traceFile, Data: k.traceLine("starting %s", p.Key), Mode: 0o644}
		files = append(files, File{Path: errorFile, Mode: 0o644}, File{Path: statusFile, Mode: 0o644}, trace)
	}
	for _, f := range files {
		f.Path = p.Spool + "/" + f.Path
		if err := k.writeFile(f, p.Owner); err != nil {
			return err
		}
	}
	return nil
}

// watched says that somebody beside the job may look into the spool directory.
func (p *Plan) watched() bool { return len(p.Steps) > 1 || p.Keep }

// noteStep writes what is known once a step has begun.
func (a *attempt) noteStep(s *Step, pid int) {
	if s.Name == Job {
		a.k.note(&a.plan, File{Path: jobPidFile, Data: strconv.AppendInt(nil, int64(pid), 10), Mode: 0o644})
	}
	a.trace("forked %q with pid %d", s.Name, pid)
}

// noteEnd writes how the job ended, for the steps after it.
func (a *attempt) noteEnd(status int) {
	if !a.plan.watched() {
		return
	}
	u := a.used.total()
	began, ended := a.used.times()
	var b strings.Builder
	line := func(name string, value any) { fmt.Fprintf(&b, "%s=%v\n", name, value) }
	line("exit_status", status)
	line("signal", a.end.Signal)
	line("start_time", began.Unix())
	line("end_time", ended.Unix())
	line("ru_wallclock", int64(u.Wallclock.Seconds()))
	line("ru_utime", fmt.Sprintf("%f", u.UserTime.Seconds()))
	line("ru_stime", fmt.Sprintf("%f", u.SysTime.Seconds()))
	line("ru_maxrss", u.MaxRSS/1024)
	line("ru_minflt", u.MinFlt)
	line("ru_majflt", u.MajFlt)
	line("ru_inblock", u.InBlock)
	line("ru_oublock", u.OuBlock)
	line("ru_nvcsw", u.NVCSw)
	line("ru_nivcsw", u.NIvCSw)
	a.k.note(&a.plan, File{Path: usageFile, Data: []byte(b.String()), Mode: 0o644})
}

// noteOver writes what stays with KEEP_ACTIVE.
func (a *attempt) noteOver() {
	if !a.plan.Keep {
		return
	}
	var code report.Failure
	if a.failed != nil {
		code = a.failed.code
		a.k.note(&a.plan, File{Path: errorFile, Data: []byte(a.failed.reason + "\n"), Mode: 0o644})
	}
	a.k.note(&a.plan, File{Path: statusFile, Data: []byte(strconv.Itoa(int(code)) + "\n"), Mode: 0o644})
}

// trace adds a line to the trace.
func (a *attempt) trace(format string, args ...any) {
	if !a.plan.watched() {
		return
	}
	f, err := os.OpenFile(filepath.Join(a.plan.Spool, traceFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o644)
	if err != nil {
		return
	}
	defer f.Close()
	f.Write(a.k.traceLine(format, args...))
}

// traceLine has the form of Grid Engine's.
func (k *shepherd) traceLine(format string, args ...any) []byte {
	return fmt.Appendf(nil, "%s [%d:%s]: %s\n", time.Now().Format("01/02/2006 15:04:05"), k.uid, k.pid, fmt.Sprintf(format, args...))
}
