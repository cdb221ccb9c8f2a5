package attacker

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// What a job does on its host: Job runs it as the job, with these budgets.
const (
	deepLevels  = 25_000
	orphansMany = 300
	orphanBytes = 1_400_000 // of environment
	filesMany   = 50_000
	wordMax     = 120 << 10 // bytes of one variable: the kernel takes 128 KiB
)

// submitWork submits a job that does one of the things of Job.
func (f *Field) submitWork(ctx context.Context, subject string, switches []string, words ...string) {
	if !f.selected(subject) || ctx.Err() != nil {
		return
	}
	args := append([]string{"-o", "/dev/null", "-j", "y", "-N", "work"}, switches...)
	args = append(args, "-shell", "n", "-b", "y", f.Lab, "attack", "work")
	_, err := f.runQsub(ctx, append(args, words...)...)
	f.count(err)
	f.cover(subject)
}

// on is the switch that has a job run on the n-th host.
func (f *Field) on(n int) []string { return []string{"-l", "h=" + f.Hosts[n%len(f.Hosts)]} }

func jobsLong(ctx context.Context, f *Field) error {
	for n := range f.Hosts {
		f.submitWork(ctx, "levels of TMPDIR", f.on(n), "deep", strconv.Itoa(deepLevels))
		f.submitWork(ctx, "environment of an orphan", f.on(n), "orphans", "3", f.Orphan, strconv.Itoa(orphanBytes))
	}
	f.submitWork(ctx, "working directory", []string{"-wd", "/" + strings.Repeat("d/", 2000)}, "nothing")
	f.submitWork(ctx, "output path", []string{"-o", "/tmp/" + strings.Repeat("o", 3000)}, "nothing")
	f.submitWork(ctx, "name of a file in TMPDIR", nil, "file", strings.Repeat("n", 255))
	<-ctx.Done()
	return nil
}

func jobsMany(ctx context.Context, f *Field) error {
	for n := range f.Hosts {
		f.submitWork(ctx, "orphans with large environments", f.on(n), "orphans", strconv.Itoa(orphansMany), f.Orphan,
			strconv.Itoa(orphanBytes))
		f.submitWork(ctx, "files in TMPDIR", f.on(n), "files", strconv.Itoa(filesMany))
		f.submitWork(ctx, "processes", f.on(n), "orphans", "100", f.Orphan, "0")
	}
	f.submitWork(ctx, "tasks", []string{"-t", "1-300"}, "nothing")
	f.mailMany(ctx)
	<-ctx.Done() // once is much
	return nil
}

// mailMany deletes tasks that run, of a job with as many recipients of mail as are accepted, again and again.
func (f *Field) mailMany(ctx context.Context) {
	for most := elements; most > 0 && f.selected("recipients of mail") && ctx.Err() == nil; {
		to := strings.Repeat("x@y,", most)
		out, err := f.runQsub(ctx, "-o", "/dev/null", "-j", "y", "-N", "mail", "-t", "1-100", "-m", "abes",
			"-M", to[:len(to)-1], "-b", "y", "sleep", "60")
		f.count(err)
		f.cover("recipients of mail")
		if err != nil {
			most /= 10
			continue
		}
		f.pause(ctx, 2*time.Second)
		_, err = f.run(ctx, "qdel", fmt.Sprint(Submitted(out)))
		f.count(err)
	}
}

// identities are variables of a job's environment that say which job a process belongs to.
var identities = []string{"SGE_JOB_SPOOL_DIR", "JOB_ID", "TMPDIR", "SGE_TASK_ID", "PE_TASK_ID",
	"SGE_STDOUT_PATH", "USER"}

// jobsForeign leaves processes that have the environment of the honest user's job on the same host, one variable at a
// time.
func jobsForeign(ctx context.Context, f *Field) error {
	for n := range f.Hosts {
		for _, name := range append([]string{"all"}, identities...) {
			f.submitWork(ctx, "orphan with another job's "+name, f.on(n), "stranger", name,
				fmt.Sprint(f.Jobs[n%len(f.Jobs)]), f.Orphan)
		}
	}
	f.pause(ctx, 8*time.Second)
	return nil
}

func jobsMultiline(ctx context.Context, f *Field) error {
	line := func(subject string) string { return "/nowhere/x\n" + Forged + subject }
	f.submitWork(ctx, "working directory", []string{"-wd", line("working directory")}, "nothing")
	f.submitWork(ctx, "output path", []string{"-o", line("output path")}, "nothing")
	f.submitWork(ctx, "input path", []string{"-i", line("input path")}, "nothing")
	f.submitWork(ctx, "shell", []string{"-S", line("shell")}, "nothing")
	f.submitWork(ctx, "name of a variable", []string{"-v", "X\n" + Forged + "name of a variable=1"}, "nothing")
	f.submitWork(ctx, "value of a variable", []string{"-v", "X=1\n" + Forged + "value of a variable"}, "nothing")
	f.submitWork(ctx, "name of a file in TMPDIR", nil, "file", "x\n"+Forged+"name of a file")
	if f.selected("program") {
		out, err := f.runQsub(ctx, "-o", "/dev/null", "-j", "y", "-b", "y", line("program"))
		f.count(err)
		f.say([]uint32{Submitted(out)})
		f.cover("program")
	}
	f.pause(ctx, 4*time.Second)
	return nil
}

// jobsRepeated has jobs fail, run again and end at once, many times.
func jobsRepeated(ctx context.Context, f *Field) error {
	f.submitWork(ctx, "exit status 99", []string{"-r", "y"}, "exit", "99")
	f.submitWork(ctx, "exit status 100", nil, "exit", "100")
	f.submitWork(ctx, "exit status 137", []string{"-t", "1-50"}, "exit", "137")
	for range 20 {
		f.submitWork(ctx, "short jobs", nil, "nothing")
	}
	f.pause(ctx, 2*time.Second)
	_, err := f.run(ctx, "qdel", "-u", f.Name)
	f.count(err)
	return nil
}

// jobsAbandoned leaves processes after the end of jobs, and ends clients of sessions without a word.
func jobsAbandoned(ctx context.Context, f *Field) error {
	for n := range f.Hosts {
		f.submitWork(ctx, "orphans that left their session", f.on(n), "orphans", "3", f.Orphan, "0")
	}
	for range 5 {
		if !f.selected("client of a session") {
			break
		}
		some, cancel := context.WithTimeout(ctx, 2*time.Second)
		f.run(some, "qrsh", "-now", "n", "sleep", f.Orphan)
		cancel()
		f.did()
		f.cover("client of a session")
	}
	f.pause(ctx, 3*time.Second)
	return nil
}

// Work is what a job of the attacker does on its host.
func Work(words []string) error {
	number := func(i int) int {
		if i >= len(words) {
			return 0
		}
		n, _ := strconv.Atoi(words[i])
		return n
	}
	if len(words) == 0 {
		return nil
	}
	switch words[0] {
	case "deep":
		return digDeep(os.Getenv("TMPDIR"), number(1))
	case "file":
		return os.WriteFile(filepath.Join(os.Getenv("TMPDIR"), words[1]), nil, 0o600)
	case "files":
		for i := range number(1) {
			if err := os.WriteFile(filepath.Join(os.Getenv("TMPDIR"), fmt.Sprint("f", i)), nil, 0o600); err != nil {
				return err
			}
		}
	case "exit":
		os.Exit(number(1))
	case "orphans":
		var env []string
		for left := number(3); left > 0; left -= wordMax {
			env = append(env, fmt.Sprintf("V%d=%s", left, strings.Repeat("x", min(left, wordMax))))
		}
		for range number(1) {
			if err := leave(env, "sleep", words[2]); err != nil {
				return err
			}
		}
	case "stranger":
		return pretend(words[1], words[2], words[3])
	}
	return nil
}

// leave starts a process in a session of its own, which outlives this one.
func leave(env []string, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = append(env, "PATH=/usr/bin:/bin"), "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}

// pretend leaves a process that computes for some seconds, with the environment of another job in one variable or in
// all.
func pretend(name, job, orphan string) error {
	own := filepath.Base(os.Getenv("SGE_JOB_SPOOL_DIR"))
	var env []string
	for _, v := range identities {
		value := os.Getenv(v)
		if v == name || name == "all" {
			value = strings.ReplaceAll(value, own, job+".1")
			value = strings.ReplaceAll(value, os.Getenv("JOB_ID"), job)
			env = append(env, v+"="+value)
		}
	}
	return leave(env, "/bin/sh", "-c", `timeout 4 sh -c 'while :; do :; done'; exec sleep "$0"`, orphan)
}

// digDeep makes a directory in a directory, and so on. Paths are no longer than the kernel takes: each is made below
// the one before.
func digDeep(dir string, levels int) error {
	at, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_RDONLY, 0)
	for i := 0; err == nil && i < levels; i++ {
		if err = unix.Mkdirat(at, "d", 0o700); err != nil {
			break
		}
		var next int
		next, err = unix.Openat(at, "d", unix.O_DIRECTORY|unix.O_RDONLY, 0)
		unix.Close(at)
		at = next
	}
	return err
}
