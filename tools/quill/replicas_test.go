package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/quill-grid/quill/pkg/bus/bustest"
)

var rounds = flag.Int("rounds", 0,
	"how often a server of a cluster is killed, and qmaster, and how often the cluster is parted; 0: once, and qmaster is told to stop, which is faster")

// natsServerMain is the program nats-server: `nats-server -c FILE`, as far as
// a cluster of it is needed here.
func natsServerMain() {
	opts, err := server.ProcessConfigFile(os.Args[2])
	if err == nil {
		err = serveNATS(opts)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "nats-server:", err)
		os.Exit(1)
	}
}

func serveNATS(opts *server.Options) error {
	opts.NoSigs = true
	s, err := server.NewServer(opts)
	if err != nil {
		return err
	}
	s.ConfigureLogger()
	ended, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	s.Start()
	<-ended.Done()
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}

// replicas is a cell whose log is kept by three servers, and two qmasters of
// which one leads.
type replicas struct {
	chaos
	urls    []string
	servers []*daemon
	routes  map[[2]int]*bustest.Way // from each server to each other one
}

// newReplicas starts the servers with what `quill nats-config` says, as the
// README describes it for administrators.
func newReplicas(t *testing.T, root string) *replicas {
	r := &replicas{chaos: chaos{site: newSite(t, root), runs: filepath.Join(root, "runs")},
		routes: map[[2]int]*bustest.Way{}}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	r.env = append(r.env, "USER="+me.Username, "QUILL_KEY="+filepath.Join(root, "default/keys/user-"+me.Username+".nk"))
	for _, key := range [][]string{{"qmaster"}, {"scheduler"}, {"host", "node1"}, {"host", "node2"},
		{"user", me.Username}} {
		r.must("quill", append([]string{"key"}, key...)...)
	}
	listen := freeAddresses(t, 6) // three for clients, three for each other
	for i := range 3 {
		var routes []string
		for j := range 3 {
			if j != i {
				way := bustest.NewWay(t, "nats://"+listen[3+j])
				r.routes[[2]int{i, j}] = way
				routes = append(routes, way.URL)
			}
		}
		dir := filepath.Join(root, fmt.Sprintf("nats%d", i+1))
		cell := r.must("quill", "nats-config", "--store", dir)
		// There is no way but those: the addresses of others that servers send each other lead nowhere.
		conf :=
			fmt.Sprintf(
				"server_name: n%d\nlisten: %s\ncluster { name: c, listen: %s, advertise: \"127.0.0.1:1\", no_advertise: true, routes: [%s] }\ninclude \"cell.conf\"\n",
				i+1, listen[i], listen[3+i], strings.Join(routes, ", "))
		file := filepath.Join(dir, "server.conf")
		for _, err := range []error{
			os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "cell.conf"), []byte(cell), 0o600),
			os.WriteFile(file, []byte(conf), 0o600),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		r.urls = append(r.urls, "nats://"+listen[i])
		r.servers = append(r.servers, r.run("nats-server", "-c", file))
	}
	return r
}

// connect comes in as qmaster, who may ask the servers how they are.
func (r *replicas) connect() *nats.Conn {
	text, err := os.ReadFile(filepath.Join(r.root, "default/keys/qmaster-qmaster.nk"))
	if err != nil {
		r.t.Fatal(err)
	}
	pair, err := nkeys.FromSeed(seedLine.Find(text))
	if err != nil {
		r.t.Fatal(err)
	}
	public, _ := pair.PublicKey()
	nc, err := nats.Connect(strings.Join(r.urls, ","), nats.Nkey(public, pair.Sign), nats.MaxReconnects(-1))
	if err != nil {
		r.t.Fatal(err)
	}
	return nc
}

var seedLine = regexp.MustCompile(`SU\w+`)

// loopback is a loopback address of this process: no other process listens there, and
// connections, which come from 127.0.0.1, take no port of it. So whoever is
// started later still finds a port free, also when it starts again.
var loopback = fmt.Sprintf("127.%d.%d.%d", 64+os.Getpid()>>16&63, os.Getpid()>>8&255, os.Getpid()&255)

var given struct {
	sync.Mutex
	addresses map[string]bool
}

// freeAddresses are addresses of servers that are to listen.
func freeAddresses(t *testing.T, n int) (addresses []string) {
	t.Helper()
	given.Lock()
	defer given.Unlock()
	if given.addresses == nil {
		given.addresses = map[string]bool{}
	}
	for len(addresses) < n {
		l, err := net.Listen("tcp", loopback+":0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if a := l.Addr().String(); !given.addresses[a] {
			given.addresses[a] = true
			addresses = append(addresses, a)
		}
	}
	return addresses
}

// leader is the server that leads the log, when all three of them have all of
// it; -1: not so yet.
func (r *replicas) leader(js jetstream.JetStream) (int, string) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	s, err := js.Stream(ctx, "GE_EVENTS")
	if err != nil {
		return -1, err.Error()
	}
	c := s.CachedInfo().Cluster
	for _, p := range c.Replicas {
		if !p.Current || p.Offline {
			return -1, fmt.Sprintf("%+v", p)
		}
	}
	for i := range r.servers {
		if c.Leader == fmt.Sprintf("n%d", i+1) && len(c.Replicas) == 2 {
			return i, ""
		}
	}
	return -1, fmt.Sprintf("%+v", c)
}

// complete waits until all three servers have all of the log, and says which leads
// it.
func (r *replicas) complete(js jetstream.JetStream) (led int) {
	r.t.Helper()
	r.await("the log has three copies", 2*patience, func() (ok bool, why string) {
		led, why = r.leader(js)
		return led >= 0, why
	})
	return led
}

// flow has clients submit jobs until ebb.
func (r *replicas) flow(job string) {
	r.reported.changed, r.reported.clients, r.reported.enough = sync.NewCond(&r.reported), 2, math.MaxInt
	for i := range r.reported.clients {
		dice := rand.New(rand.NewPCG(chance(), uint64(10+i)))
		go func() {
			defer r.updateClients(func() { r.reported.clients-- })
			r.submit(dice, i, job)
		}()
	}
}

// more waits until so many tasks more are taken; meanwhile is done again and again.
func (r *replicas) more(what string, tasks int, meanwhile func()) {
	r.t.Helper()
	r.reported.Lock()
	goal := r.reported.tasks + tasks
	r.reported.Unlock()
	begun := time.Now()
	r.await(what, 2*patience, func() (bool, string) {
		meanwhile()
		r.reported.Lock()
		defer r.reported.Unlock()
		return r.reported.tasks >= goal, fmt.Sprint(r.reported.tasks)
	})
	r.t.Logf("%s: %v", what, time.Since(begun).Round(time.Millisecond))
}

// ebb has no more jobs submitted and waits for those there are.
func (r *replicas) ebb() {
	r.t.Helper()
	r.updateClients(func() { r.reported.enough = 0 })
	r.await("all jobs end", 3*patience, func() (bool, string) {
		out, errs, err := r.do("qstat", "-u", "*")
		return err == nil && out == "", out + errs
	})
}

// replicated waits until quill status says that replicas of the log are in these states.
func (r *replicas) replicated(states ...string) {
	r.t.Helper()
	r.await(fmt.Sprintf("replicas are %q", states), patience, func() (bool, string) {
		out, errs, err := r.do("quill", "status")
		_, log, _ := strings.Cut(out, "\nlog      on n")
		log, _, _ = strings.Cut(log, "\n")
		for _, s := range states {
			if !strings.Contains(log, " "+s) {
				return false, out + errs
			}
			log = strings.Replace(log, " "+s, "", 1)
		}
		return err == nil, out + errs
	})
}

// bothDead bounds how long a cell may be without a qmaster when the leading one and its
// server are killed at once.
const bothDead = 40 * time.Second

// TestReplicas kills servers of three, mostly the leading one, and the qmaster
// that leads, while jobs flow: another server and the other qmaster continue.
func TestReplicas(t *testing.T) {
	t.Parallel()
	t.Logf("repeat with -run TestReplicas -seed %d -rounds %d", chance(), *rounds)
	dice := rand.New(rand.NewPCG(chance(), 3))
	root := t.TempDir()
	r := newReplicas(t, root)
	master := []string{"qmaster", "--nats", strings.Join(r.urls, ","), "--replicas", "3"}
	masters := []*daemon{r.start(master[0], append(master[1:], "--log-level", "info")...)}
	r.await("qmaster answers", patience, func() (bool, string) {
		out, errs, err := r.do("qconf", "-sql")
		return err == nil, out + errs
	})
	masters = append(masters, r.start(master[0], append(master[1:], "--log-level", "debug")...))
	r.start("schedd")
	r.start("execd", "--host", "node1")
	r.start("execd", "--host", "node2")
	job, tmp := r.prepare()

	nc := r.connect()
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}

	r.replicated("up to date", "up to date")
	r.flow(job)
	r.more("tasks are taken", 50, func() {})
	lead := 0
	for range max(1, *rounds) {
		led := r.complete(js)
		if *rounds > 0 && dice.IntN(3) == 0 {
			led = dice.IntN(3)
		}
		r.servers[led].kill()
		r.more(fmt.Sprintf("tasks are taken with n%d dead", led+1), 50, func() {})
		r.replicated("offline", "up to date")
		r.servers[led] = r.run("nats-server", r.servers[led].args...)
		select {
		case <-masters[lead].gone:
			t.Errorf("qmaster has not outlived the server:\n%s", masters[lead].log)
		default:
		}
		if *rounds == 0 {
			masters[lead].cmd.Process.Signal(syscall.SIGTERM)
			select {
			case <-masters[lead].gone:
			case <-time.After(2 * patience):
				masters[lead].cmd.Process.Signal(syscall.SIGQUIT) // where it hangs
				<-masters[lead].gone
				t.Fatalf("qmaster does not stop:\n%s", masters[lead].log)
			}
		} else {
			masters[lead].kill()
		}
		r.more("tasks are taken with the other qmaster", 50, func() {})
		r.start(masters[lead].args[0], masters[lead].args[1:]...)
		lead = 1 - lead
	}
	// Both at once: the next qmaster waits for the lease and for the servers' election, and
	// for nothing else.
	led := r.complete(js)
	r.servers[led].kill()
	masters[lead].kill()
	begun := time.Now()
	r.more(fmt.Sprintf("tasks are taken with n%d and its qmaster dead", led+1), 1, func() {})
	if took := time.Since(begun); took > bothDead {
		t.Errorf("after %v, more than %v", took, bothDead)
	}
	r.servers[led] = r.run("nats-server", r.servers[led].args...)
	r.start(masters[lead].args[0], masters[lead].args[1:]...)
	r.ebb()
	r.judge(2*max(1, *rounds) + 2)
	r.cleanAfterwards(tmp)
}
