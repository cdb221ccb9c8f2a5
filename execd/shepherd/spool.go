package shepherd

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/quill-grid/quill/execd/plan"
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
func spoolNames(p *plan.Plan) (names []string) {
	names = append(names, environmentFile, pidFile, jobPidFile)
	if spoolIsRead(p) {
		names = append(names, traceFile, errorFile, statusFile, usageFile)
	}
	for _, f := range p.Files {
		if name, ok := strings.CutPrefix(f.Path, p.Spool+"/"); ok {
			names = append(names, name)
		}
	}
	return names
}

// writeSpoolFile writes a file of the spool directory once the attempt has begun. A failure does not end the attempt.
func (k *shepherd) writeSpoolFile(p *plan.Plan, f plan.File) {
	f.Path = p.Spool + "/" + f.Path
	if err := k.writeFile(f, p.Owner); err != nil && exists(p.Spool) {
		k.logf("%s: %v", p.Attempt, err)
	}
}

// writeStartFiles writes what is known before the first step. Jobs without other steps, which are most, have no
// files that only other steps read.
func (k *shepherd) writeStartFiles(p *plan.Plan) error {
	if err := k.writeEnvironment(p); err != nil {
		return err
	}
	files := []plan.File{plan.Public(pidFile, []byte(k.pid))}
	if spoolIsRead(p) {
		trace := plan.Public(traceFile, k.traceLine("starting %s", p.Attempt))
		files = append(files, plan.Public(errorFile, nil), plan.Public(statusFile, nil), trace)
	}
	for _, f := range files {
		f.Path = p.Spool + "/" + f.Path
		if err := k.writeFile(f, p.Owner); err != nil {
			return err
		}
	}
	return nil
}

// spoolIsRead reports whether programs other than the job may read the spool directory.
func spoolIsRead(p *plan.Plan) bool { return len(p.Steps) > 1 || p.Keep }

// writeStepFiles writes what is known once a step has begun.
func (a *attempt) writeStepFiles(s *plan.Step, pid int) {
	if s.Name == plan.Job {
		a.k.writeSpoolFile(&a.plan, plan.Public(jobPidFile, strconv.AppendInt(nil, int64(pid), 10)))
	}
	a.trace("forked %q with pid %d", s.Name, pid)
}

// writeUsageFile writes how the job ended, for the steps after it.
func (a *attempt) writeUsageFile(status int) {
	if !spoolIsRead(&a.plan) {
		return
	}
	u := a.used.totalUsage()
	began, ended := a.used.jobTimes()
	var b strings.Builder
	line := func(name string, value any) { fmt.Fprintf(&b, "%s=%v\n", name, value) }
	line("exit_status", status)
	line("signal", a.end.Signal)
	line("start_time", began.Unix())
	line("end_time", ended.Unix())
	line("ru_wallclock", int64(u.wallclock.Seconds()))
	line("ru_utime", fmt.Sprintf("%f", u.userTime.Seconds()))
	line("ru_stime", fmt.Sprintf("%f", u.sysTime.Seconds()))
	line("ru_maxrss", u.maxRSS/1024)
	line("ru_minflt", u.minFlt)
	line("ru_majflt", u.majFlt)
	line("ru_inblock", u.inBlock)
	line("ru_oublock", u.ouBlock)
	line("ru_nvcsw", u.nvcsw)
	line("ru_nivcsw", u.nivcsw)
	a.k.writeSpoolFile(&a.plan, plan.Public(usageFile, []byte(b.String())))
}

// writeStatusFiles writes what stays with KEEP_ACTIVE.
func (a *attempt) writeStatusFiles() {
	if !a.plan.Keep {
		return
	}
	var code report.Failure
	if a.failed != nil {
		code = a.failed.code
		a.k.writeSpoolFile(&a.plan, plan.Public(errorFile, []byte(a.failed.reason+"\n")))
	}
	a.k.writeSpoolFile(&a.plan, plan.Public(statusFile, []byte(strconv.Itoa(int(code))+"\n")))
}

// trace adds a line to the trace.
func (a *attempt) trace(format string, args ...any) {
	if !spoolIsRead(&a.plan) {
		return
	}
	f, err := os.OpenFile(filepath.Join(a.plan.Spool, traceFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW,
		0o644)
	if err != nil {
		return
	}
	defer f.Close()
	f.Write(a.k.traceLine(format, args...))
}

// traceLine has the form of Grid Engine's.
func (k *shepherd) traceLine(format string, args ...any) []byte {
	return fmt.Appendf(nil, "%s [%d:%s]: %s\n", time.Now().Format("01/02/2006 15:04:05"), k.uid, k.pid,
		fmt.Sprintf(format, args...))
}
