package main

import (
	"strings"
	"testing"
	"time"
)

// TestMajority takes the majority of the servers away for longer than a lease lasts, and then all of them for a moment:
// a qmaster leads when they are back, and the commands that were given meanwhile say what they wait for.
func TestMajority(t *testing.T) {
	t.Parallel()
	if *rounds < 2 {
		t.Skip("waits for more than a minute until commands and a lease give up; make soak runs it")
	}
	r := newReplicas(t, t.TempDir())
	master := []string{"--nats", strings.Join(r.urls, ","), "--replicas", "3", "--log-level"}
	leader := r.start("qmaster", append(master, "info")...)
	answers := func(what string) {
		t.Helper()
		begun := time.Now()
		r.await(what, 2*patience, func() (bool, string) {
			out, errs, err := r.do("qconf", "-sql")
			return err == nil, out + errs
		})
		t.Logf("%s: %v", what, time.Since(begun).Round(time.Millisecond))
	}
	logged := func(d *daemon, text string) {
		t.Helper()
		r.await(text, patience, func() (bool, string) { return strings.Contains(d.log.String(), text), d.log.String() })
	}
	restart := func(servers ...int) {
		for _, i := range servers {
			r.servers[i] = r.run("nats-server", r.servers[i].args...)
		}
	}
	answers("qmaster answers")
	standby := r.start("qmaster", append(master, "debug")...)
	logged(standby, "another one leads")
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the first leader:\n%s\nits standby:\n%s", leader.log, standby.log)
		}
	})

	// The outcome of what is submitted now is not known at once; it is known under its number later.
	r.servers[0].kill()
	r.servers[1].kill()
	type result struct {
		out, errs string
		err       error
	}
	submitted := make(chan result, 1)
	go func() {
		out, errs, err := r.do("env", "QUILL_REQUEST=once", "qsub", "-b", "y", "-N", "once", "true")
		submitted <- result{out, errs, err}
	}()
	select {
	case <-leader.gone:
	case <-time.After(2 * patience):
		t.Fatalf("the leader has not ended:\n%s", leader.log)
	}
	logged(leader, "no NATS server or no majority of them answers")
	s := <-submitted
	t.Logf("qsub without a majority: %s%s%v", s.out, s.errs, s.err)
	if s.err == nil || !strings.Contains(s.errs, "waiting\n") ||
		!strings.Contains(s.errs, "It may have been carried out") || strings.Contains(s.errs, "Unable to run job") {
		t.Error("not said to be unknown")
	}
	restart(0, 1)
	answers("the standby leads with the majority back")
	first := r.must("env", "QUILL_REQUEST=once", "qsub", "-b", "y", "-N", "once", "true")
	if again := r.must("env", "QUILL_REQUEST=once", "qsub", "-b", "y", "-N", "once", "true"); again != first {
		t.Errorf("submitted twice: %s%s", first, again)
	}
	if jobs := strings.Count(r.must("qstat", "-u", "*"), " once "); jobs != 1 {
		t.Errorf("%d jobs of one request", jobs)
	}

	// All servers at once, for a moment, with a standby.
	leader, standby = standby, r.start("qmaster", append(master, "info")...)
	logged(standby, "another one leads")
	for _, s := range r.servers {
		s.kill()
	}
	logged(standby, "connection to the NATS server is lost")
	restart(0, 1, 2)
	answers("a qmaster leads with all servers back")
	for _, d := range []*daemon{leader, standby} {
		select {
		case <-d.gone:
			t.Errorf("a qmaster has ended:\n%s", d.log)
		default:
		}
	}
}
