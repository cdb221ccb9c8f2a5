package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMove moves the log of a cell from its directory to three servers and back.
// Jobs, numbers of lists and all of history continue without a seam, and no qmaster
// begins a second log.
func TestMove(t *testing.T) {
	t.Parallel()
	r := newReplicas(t, t.TempDir())
	url := strings.Join(r.urls, ",")
	store := filepath.Join(r.root, "default/log")
	begin := func(args ...string) *daemon {
		t.Helper()
		d := r.start("qmaster", args...)
		r.await("qmaster answers", patience, func() (bool, string) {
			out, errs, err := r.do("qconf", "-sql")
			return err == nil, out + errs
		})
		return d
	}
	end := func(d *daemon) {
		t.Helper()
		d.cmd.Process.Signal(syscall.SIGTERM)
		<-d.gone
	}
	refused := func(want string, args ...string) {
		t.Helper()
		out, errs, err := r.do("quill", args...)
		if err == nil || !strings.Contains(errs, want) {
			t.Errorf("quill %q: %v\n%s%s", args, err, out, errs)
		}
	}
	submit := func(name string) { r.must("qsub", "-h", "-b", "y", "-N", name, "true") }
	holds := func(names ...string) {
		t.Helper()
		known := r.must("qstat", "-u", "*")
		for _, name := range names {
			if strings.Count(known, " "+name+" ") != 1 {
				t.Errorf("job %s after the move:\n%s", name, known)
			}
		}
	}

	d := begin()
	submit("here")
	refused("qmaster runs: stop it first", "log", "move", "--nats", url, "--replicas", "3")
	end(d)
	refused("has a log of its own", "qmaster", "--nats", url, "--replicas", "3")
	t.Log(r.must("quill", "log", "move", "--nats", url, "--replicas", "3"))
	refused("has moved to "+url, "qmaster")

	d = begin("--nats", url, "--replicas", "3")
	holds("here")
	submit("there")
	refused("qmaster runs: stop it first", "log", "move", "--nats", url, "--replicas", "3", "--back")
	t.Log(r.must("quill", "log", "verify"))
	safe := filepath.Join(r.root, "safe")
	r.must("quill", "backup", safe)
	submit("later")
	r.must("quill", "backup", safe)
	end(d)
	t.Log(r.must("quill", "log", "move", "--back")) // it knows where the log is, and how many copies there are
	refused("was not moved", "log", "move", "--back")
	refused("has a log of its own", "qmaster", "--nats", url, "--replicas", "3")

	d = begin()
	holds("here", "there", "later")
	submit("again")
	r.must("quill", "backup", safe) // the log has moved, and continues the backup
	end(d)
	restored := filepath.Join(r.root, "restored")
	r.must("env", "SGE_ROOT="+restored, "quill", "restore", safe)
	if text := r.must("quill", "replay", "--log", filepath.Join(restored, "default"), "qstat", "-u",
		"*"); !strings.Contains(text, " there ") || !strings.Contains(text, " again ") {
		t.Error(text)
	}
	verified := r.must("quill", "log", "verify", "--log", filepath.Join(r.root, "default"))
	if !strings.HasPrefix(verified, "good: ") || strings.Contains(verified, "cannot") {
		t.Error(verified)
	}
	t.Log(verified)
	if _, err := os.Stat(filepath.Join(store, "moved")); err == nil {
		t.Error("the log is back, and its directory says that it has moved")
	}
}
