package shepherd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/report"
)

// The shepherd runs as root, and opens what users name with their rights only. Here a user names what another one owns.

const secret = "for its owner only"

// closed makes a directory that only its owner may enter, with a file in it that others could read otherwise.
func (h *host) closed(o plan.Owner) (dir, file string) {
	h.t.Helper()
	dir = filepath.Join(h.home(o), "closed")
	os.Mkdir(dir, 0o700)
	file = filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte(secret), 0o644); err != nil {
		h.t.Fatal(err)
	}
	for _, path := range []string{dir, file} {
		if err := os.Chown(path, int(o.UID), int(o.GID)); err != nil {
			h.t.Fatal(err)
		}
	}
	return dir, file
}

// link makes a symbolic link in the home of an owner.
func (h *host) link(o plan.Owner, name, to string) string {
	h.t.Helper()
	path := filepath.Join(h.home(o), name)
	if err := os.Symlink(to, path); err != nil {
		h.t.Fatal(err)
	}
	return path
}

func TestPathsOfOtherUsers(t *testing.T) {
	h := hostOfUsers(t)
	dir, file := h.closed(honest)
	mine := h.home(mallory)
	roots := filepath.Join(h.dir, "roots")
	if err := os.WriteFile(roots, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	hard := filepath.Join(mine, "hard") // a kernel without protected_hardlinks lets users make such
	if err := os.Link(roots, hard); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(h.home(honest), "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	os.Mkdir(filepath.Join(mine, "sub"), 0o777)
	paths := []string{
		file, roots, hard, filepath.Join(h.home(honest), "fifo"), dir + "/new", h.dir + "/new", "/etc/new",
		h.link(mallory, "to-file", file), h.link(mallory, "to-root", roots), h.link(mallory, "to-link", "to-root"),
		h.link(mallory, "to-dir", dir) + "/file",
		h.link(mallory, "dangling", dir+"/new"), mine + "/sub/../../" + filepath.Base(h.home(honest)) + "/closed/file",
		mine + "/to-dir/../new",
	}
	job := 0
	check := func(what, path string, code report.Failure, change func(*plan.Plan)) {
		t.Helper()
		job++
		p := h.by(mallory, h.plan(job, "cat; id -u"))
		out := p.Stdout.Path
		change(&p)
		e := h.run(p)
		if e.Failed != code || !strings.HasSuffix(e.Text, ": Permission denied") {
			t.Errorf("%s %s: failed %d, %q", what, path, e.Failed, e.Text)
		}
		if text, _ := os.ReadFile(out); len(text) > 0 {
			t.Errorf("%s %s: the job has run: %q", what, path, text)
		}
	}
	for _, path := range paths {
		check("stdout", path, report.FailedOutput, func(p *plan.Plan) { p.Stdout.Path = path })
		check("stderr", path, report.FailedOutput, func(p *plan.Plan) { p.Stderr.Path = path })
		if !strings.HasSuffix(path, "new") && !strings.HasSuffix(path, "dangling") {
			check("stdin", path, report.FailedOutput, func(p *plan.Plan) { p.Stdin = path })
		}
		check("output of a step", path, report.FailedOutput, func(p *plan.Plan) {
			p.Steps = append([]plan.Step{{Name: plan.PEStart, Argv: []string{"/bin/true"}, Stdout: plan.Output{Path: path}}},
				p.Steps...)
			p.Steps[0].Stderr = plan.Output{}
		})
	}
	for _, path := range []string{dir, mine + "/to-dir", mine + "/sub/../to-dir"} {
		check("cwd", path, report.FailedDirectory, func(p *plan.Plan) { p.Cwd = path })
	}
	for _, f := range []string{file, roots} {
		text, _ := os.ReadFile(f)
		want(t, f, string(text), secret)
	}
	for _, f := range []string{dir + "/new", h.dir + "/new", "/etc/new"} {
		want(t, f, exists(f), false)
	}
}

// What the shepherd itself has open is no way around the directories of other users.
func TestFilesOfTheShepherd(t *testing.T) {
	h := hostOfUsers(t)
	dir, file := h.closed(honest)
	p := h.by(honest, h.plan(1, "echo mine; sleep 1000"))
	p.Stdin, p.Stdout.Path, p.Cwd = file, filepath.Join(dir, "out"), dir
	p.Steps = append(p.Steps, script(plan.Epilog, "true")) // for which they stay open
	h.start(p)
	h.until("the other user's job has written", func() bool { b, _ := os.ReadFile(p.Stdout.Path); return len(b) > 0 })
	pid := shepherdPid(h.dir)
	job := 1
	for fd := 3; fd < 30; fd++ {
		for _, path := range []string{fmt.Sprint("/proc/self/fd/", fd), fmt.Sprint("/dev/fd/", fd),
			fmt.Sprintf("/proc/%d/fd/%d", pid, fd), fmt.Sprintf("/proc/self/fd/%d/file", fd)} {
			job++
			p := h.by(mallory, h.plan(job, "cat"))
			p.Stdin = path
			h.run(p)
			text, _ := os.ReadFile(p.Stdout.Path)
			if strings.Contains(string(text), "mine") || strings.Contains(string(text), secret) {
				t.Errorf("%s: %q", path, text)
			}
		}
	}
	h.signal(report.Terminate, 1)
	h.end(1)
}

// The child of a careful start gets its task from a file that no user can open, not even by what /proc shows of it.
func TestErrandIsPrivate(t *testing.T) {
	h := hostOfUsers(t)
	p := h.by(mallory, h.plan(1, "cat"))
	p.Stdin = h.fifo(mallory, "in")
	h.start(p)
	var mode uint32
	h.until("the child waits at the FIFO", func() bool {
		links, _ := filepath.Glob("/proc/[0-9]*/fd/3")
		for _, link := range links {
			var s unix.Stat_t
			if to, _ := os.Readlink(link); strings.Contains(to, "memfd:errand") && unix.Stat(link, &s) == nil {
				mode = s.Mode
				return true
			}
		}
		return false
	})
	want(t, "mode of the errand", mode&0o777, 0)
	h.signal(report.Terminate, 1)
	h.end(1)
}

// A user changes what a path leads to while the shepherd uses it.
func TestDirectoryReplaced(t *testing.T) {
	h := hostOfUsers(t)
	dir, _ := h.closed(honest)
	open := filepath.Join(h.dir, "open") // root's, to be seen by all
	os.Mkdir(open, 0o755)
	mine := h.home(mallory)
	real, fake, name := filepath.Join(mine, "real"), filepath.Join(mine, "fake"), filepath.Join(mine, "name")
	os.Mkdir(real, 0o755)
	os.Chown(real, int(mallory.UID), int(mallory.GID))
	os.Symlink(real, name)
	done, stopped := make(chan struct{}), sync.WaitGroup{}
	stopped.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			os.Symlink([]string{real, open, dir}[i%3], fake)
			os.Rename(fake, name)
		}
	})
	const n = 60
	var plans []plan.Plan
	for job := 1; job <= n; job++ {
		p := h.by(mallory, h.plan(job, "echo here; pwd -P"))
		p.Stdout.Path = filepath.Join(name, "out")
		if job%2 == 0 {
			p.Stdout.Path, p.Cwd = filepath.Join(mine, "cwds"), name
		}
		plans = append(plans, p)
	}
	h.start(plans...)
	ran := 0
	for job := 1; job <= n; job++ {
		if e := h.end(job); e.Failed == report.NoFailure {
			ran++
		} else if !strings.HasSuffix(e.Text, ": Permission denied") {
			t.Errorf("job %d: failed %d, %s", job, e.Failed, e.Text)
		}
	}
	close(done)
	stopped.Wait()
	t.Logf("%d of %d jobs have run", ran, n)
	for _, d := range []string{open, dir} {
		want(t, d, exists(filepath.Join(d, "out")), false)
	}
	if cwds, _ := os.ReadFile(filepath.Join(mine, "cwds")); strings.Contains(string(cwds), dir) {
		t.Errorf("a job was in %s:\n%s", dir, cwds)
	}
}

// Files that the shepherd makes for a job are not those that another user has left there or has open.
func TestSpoolFilesAreNew(t *testing.T) {
	h := hostOfUsers(t)
	p := h.by(honest, h.plan(1, "cat $SGE_JOB_SPOOL_DIR/environment"))
	p.Env = append(p.Env, "SECRET="+secret)
	p.Files = []plan.File{plan.Private(filepath.Join(p.Spool, "private"), []byte(secret))}
	os.Mkdir(p.Spool, 0o755)
	var held []*os.File
	for _, name := range []string{environmentFile, "private", jobPidFile} {
		f, err := os.OpenFile(filepath.Join(p.Spool, name), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		f.Chown(int(mallory.UID), int(mallory.GID))
		held = append(held, f)
	}
	want(t, "reason", h.run(p).Text, "")
	if out, _ := os.ReadFile(p.Stdout.Path); !strings.Contains(string(out), secret) {
		t.Errorf("the job's own environment: %q", out)
	}
	for _, f := range held {
		if s, err := f.Stat(); err != nil || s.Size() > 0 {
			t.Errorf("%s was written to: %d bytes, %v", f.Name(), s.Size(), err)
		}
	}
}

// What stands in the place of a TMPDIR stays as it is, and what a job has linked in its own.
func TestTmpDirOfOthers(t *testing.T) {
	h := hostOfUsers(t)
	dir, file := h.closed(honest)
	for job, make := range map[int]func(path string){
		1: func(path string) { os.Symlink(dir, path) },
		2: func(path string) { os.Mkdir(path, 0o755); os.Chown(path, int(honest.UID), int(honest.GID)) },
		3: func(path string) { os.Link(file, path) },
		4: func(path string) { syscall.Mkfifo(path, 0o644) },
	} {
		path := filepath.Join(h.dir, fmt.Sprint("tmp", job))
		make(path)
		var before, after syscall.Stat_t
		syscall.Lstat(path, &before)
		p := h.by(mallory, h.plan(job, "true"))
		p.Dirs = []plan.Dir{{Path: path, Mode: 0o755, Owned: true}}
		e := h.run(p)
		if e.Failed != report.FailedBeforeJob || !strings.HasPrefix(e.Text, "can't make directory: ") {
			t.Errorf("%d: failed %d, %q", job, e.Failed, e.Text)
		}
		err := syscall.Lstat(path, &after)
		if err != nil || after.Ino != before.Ino || after.Uid != before.Uid || after.Mode != before.Mode {
			t.Errorf("%d: it was %v, is %v, %v", job, before, after, err)
		}
	}
	p := h.by(mallory, h.plan(10, "cd "+h.dir+"/tmp10; ln -s "+dir+" link; ln -s "+file+" flink; mkdir -p a/b; ln -s "+dir+
		" a/b/link; rm -rf c; ln -s / c; mkfifo a/fifo; chmod 0 a"))
	p.Dirs = []plan.Dir{{Path: h.dir + "/tmp10", Mode: 0o755, Owned: true}}
	want(t, "reason", h.run(p).Text, "")
	want(t, "TMPDIR of the job", exists(h.dir+"/tmp10"), false)
	text, _ := os.ReadFile(file)
	want(t, "the other user's file", string(text), secret)
}

// A file with a lease is opened by the job, which waits until the lease is given back: the shepherd neither waits nor
// tries without end.
func TestOutputWithALease(t *testing.T) {
	h := newHost(t)
	p := h.plan(1, "echo written")
	f, err := os.OpenFile(p.Stdout.Path, os.O_RDONLY|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		t.Skipf("no leases: %v", err)
	}
	streams, failed := openQuick([3]int{-1, -1, -1}, [3]plan.Output{1: p.Stdout})
	if failed != nil || streams.late[1] != p.Stdout || len(streams.opened) != 0 {
		t.Errorf("opened %v, left to the job %v, failure %v", streams.opened, streams.late, failed)
	}
	h.start(p)
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK); err != nil {
		t.Fatal(err)
	}
	h.end(1)
	want(t, "output", h.output(1), "written\n")
}
