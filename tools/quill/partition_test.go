package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/quill-grid/quill/pkg/bus/bustest"
)

// parted is a cell whose qmasters each have ways of their own to the servers.
// Everybody else has the servers' addresses, as a host of its own has that is not
// qmaster's: it does not see whether a qmaster runs.
type parted struct {
	*replicas
	home    string // SGE_ROOT of the qmasters
	ways    [2][3]*bustest.Way
	masters [2]*daemon
}

func newParted(t *testing.T, root string) *parted {
	p := &parted{replicas: newReplicas(t, root), home: filepath.Join(root, "home")}
	at := filepath.Join(p.home, "default")
	p.address(root, p.urls...)
	for _, err := range []error{
		os.MkdirAll(filepath.Join(at, "common"), 0o755),
		os.Symlink(filepath.Join(root, "default/keys"), filepath.Join(at, "keys")),
		os.Symlink(filepath.Join(at, "common/accounting"), filepath.Join(root, "default/common/accounting")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for m := range p.ways {
		for i, url := range p.urls {
			p.ways[m][i] = bustest.NewWay(t, url)
		}
		p.lead(m)
		if m == 0 {
			p.await("qmaster answers", patience, func() (bool, string) {
				out, errs, err := p.do("qconf", "-sql")
				return err == nil, out + errs
			})
		}
	}
	return p
}

// address makes a cell directory whose programs know these servers.
func (p *parted) address(root string, urls ...string) {
	common := filepath.Join(root, "default/common")
	if err := errors.Join(
		os.MkdirAll(common, 0o755),
		os.WriteFile(filepath.Join(common, "bootstrap"), []byte("server_url "+strings.Join(urls, ",")+"\n"), 0o644),
		os.WriteFile(filepath.Join(common, "act_qmaster"), []byte("home\n"), 0o644),
	); err != nil {
		p.t.Fatal(err)
	}
}

// lead starts a qmaster, which leads or waits.
func (p *parted) lead(m int) {
	var urls []string
	for _, w := range p.ways[m] {
		urls = append(urls, w.URL)
	}
	p.masters[m] = p.run("env", "SGE_ROOT="+p.home, "quill", "qmaster", "--nats", strings.Join(urls, ","), "--replicas",
		"3", "--log-level", "info")
}

// leading is the qmaster that leads, and its ways.
func (p *parted) leading() (int, [3]*bustest.Way) {
	text, err := os.ReadFile(filepath.Join(p.home, "default/qmaster.pid"))
	if err != nil {
		p.t.Fatal(err)
	}
	for m, d := range p.masters {
		if strconv.Itoa(d.cmd.Process.Pid) == strings.TrimSpace(string(text)) {
			return m, p.ways[m]
		}
	}
	p.t.Fatalf("qmaster %s is none of ours", text)
	return 0, p.ways[0]
}

// revive starts the qmasters again that have ended, as their administrator's
// systemd does.
func (p *parted) revive() {
	for m, d := range p.masters {
		select {
		case <-d.gone:
			p.t.Logf("qmaster %d has ended", m+1)
			p.lead(m)
		default:
		}
	}
}

// settle waits until one qmaster leads and the other waits. One that was parted may
// detect late that it leads no more, and ends then.
func (p *parted) settle() {
	p.await("one qmaster leads and the other waits", 2*patience, func() (bool, string) {
		p.revive()
		lead, wait := 0, 0
		for _, d := range p.masters {
			log := d.log.String()
			switch leads, waits := strings.LastIndex(log, "qmaster: leading"), strings.LastIndex(log, "qmaster: waiting"); {
			case leads > waits:
				lead++
			case waits > leads:
				wait++
			}
		}
		return lead == 1 && wait == 1, fmt.Sprintf("%d lead, %d wait", lead, wait)
	})
}

// partition parts the cell in one way, continues with it, and heals it.
func (p *parted) partition(kind string, js jetstream.JetStream, job string, round int) {
	led := p.complete(js)
	p.settle()
	m, ways := p.leading()
	// Move all connections of qmaster to the server that leads the log: one for requests, one for the log, one for the
	// feed.
	for i, w := range ways {
		if i != led {
			w.Cut()
		}
	}
	p.await("qmaster stands at the leading server", patience, func() (bool, string) {
		n := ways[led].Connections()
		return n == 3, fmt.Sprint(n, " connections")
	})
	for _, w := range ways {
		w.Heal()
	}
	disturbed := ways[:]
	if kind == "cut" || kind == "mute" {
		disturbed = nil
		for i := range ways {
			if i != led {
				disturbed = append(disturbed, p.routes[[2]int{i, led}], p.routes[[2]int{led, i}])
			}
		}
	}
	p.t.Logf("round %d: %s, n%d leads the log, qmaster %d the cell", round, kind, led+1, m+1)
	asked := make(chan *submission, 1)
	for _, w := range disturbed {
		if kind == "cut" || kind == "away" {
			w.Cut()
		} else {
			w.Mute()
		}
	}
	if kind == "cut" || kind == "mute" {
		go func() { asked <- p.besides(led, round, job) }()
	} else {
		close(asked)
	}
	p.more("tasks are taken in the greater part", 50, func() {})
	p.runNewest("they run there")
	for _, w := range disturbed {
		w.Heal()
	}
	begun := time.Now()
	p.complete(js)
	p.t.Logf("the log is whole again: %v", time.Since(begun).Round(time.Millisecond))
	p.more("tasks are taken after it has healed", 50, p.revive)
	if s := <-asked; s != nil {
		p.updateClients(func() { p.reported.all = append(p.reported.all, s) })
	}
}

// runNewest waits until the job that was acknowledged last has run.
func (p *parted) runNewest(what string) {
	p.t.Helper()
	newest := ""
	p.updateClients(func() {
		for _, s := range p.reported.all {
			if s.acknowledged {
				newest = s.name
			}
		}
	})
	begun := time.Now()
	p.await(what, 2*patience, func() (bool, string) {
		_, names := p.ran()
		return names[newest] != nil, newest
	})
	p.t.Logf("%s: %v", what, time.Since(begun).Round(time.Millisecond))
}

// besides submits a job at the server that is cut off. qmaster may acknowledge it there when
// the connection of the log has moved and the others have stored it; judge checks that
// a job that was acknowledged has run once.
func (p *parted) besides(led, round int, job string) *submission {
	root := filepath.Join(p.root, fmt.Sprint("beside", led))
	p.address(root, p.urls[led])
	s := &submission{name: fmt.Sprint("beside-", round), tasks: 1}
	out, errs, err := p.do("env", "SGE_ROOT="+root, "qsub", "-terse", "-N", s.name, "-b", "y", "-shell", "n", "-o",
		"/dev/null", "-j", "y", job, "1")
	if err != nil {
		p.t.Logf("qsub at n%d: %v: %s", led+1, err, errs)
		return s
	}
	id, err := strconv.ParseUint(strings.TrimSpace(out), 10, 32)
	if err != nil {
		p.t.Error(err)
	}
	s.id, s.acknowledged = uint32(id), true
	return s
}

// TestPartition parts the server that leads the log and the qmaster at it from the
// other servers, or qmaster from all servers, by cutting the ways or by losing what
// goes over them, while jobs flow: the greater part continues, what is
// acknowledged in any of them runs once, and healed they are one again.
func TestPartition(t *testing.T) {
	if *rounds == 0 {
		t.Skip("half a minute a round: make soak, or -rounds")
	}
	t.Parallel()
	t.Logf("repeat with -run TestPartition -seed %d -rounds %d", chance(), *rounds)
	dice := rand.New(rand.NewPCG(chance(), 4))
	p := newParted(t, t.TempDir())
	p.start("schedd")
	p.start("execd", "--host", "node1")
	p.start("execd", "--host", "node2")
	job, tmp := p.prepare()
	nc := p.connect()
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	p.flow(job)
	p.more("tasks are taken", 50, p.revive)
	kinds := []string{"cut", "mute", "away", "deaf"}
	for round := range *rounds {
		kind := kinds[round%len(kinds)]
		if round >= len(kinds) {
			kind = kinds[dice.IntN(len(kinds))]
		}
		p.partition(kind, js, job, round)
	}
	p.ebb()
	p.judge(0)
	t.Log(p.must("quill", "log", "verify"))
	p.cleanAfterwards(tmp)
}
