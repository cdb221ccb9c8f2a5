package shepherd

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"math"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/execd/procfs"
	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/report"
)

// shepherd is the state of the process. It has the attempts and the connections; an attempt runs itself.
type shepherd struct {
	dir       string
	uid, gid  uint32
	null      int // /dev/null, for reading and writing
	jobs      int // the control group of all jobs; -1: the shepherd's own
	reaper    *reaper
	socketDir *os.File // the directory of the socket
	journal   *journal // never call add with mu held: compaction takes mu
	pid       string
	starting  *fair.Places // attempts that prepare files or fork
	removals  *fair.Places // of directories that are not empty
	slow      Slowness
	trusted   trustedPrograms
	quit      chan struct{} // closed when it is time to go
	boot      string

	mu          sync.Mutex
	idle        *sync.Cond // running is 0
	attempts    map[report.Attempt]*attempt
	running     int          // attempts that have not ended
	left        []string     // what could not be removed yet, the oldest first
	retry       removalRetry // of what is left
	removing    sync.Mutex   // held while removal is tried again; taken before mu
	unjournaled int          // attempts that have ended and whose end is not in the journal
	conns       map[*clientConn]struct{}
	closing     bool // starts nothing any more
	alone       int  // samples since anything ran or an execd was connected
}

// aloneMax is after how many samples, a second each, without jobs and without execd the shepherd goes.
const aloneMax = 60

// killPause is how long a forced stop lets steps that begin meanwhile, epilogs, run before it kills them too.
const killPause = time.Second

// gcPercent trades a few MB for a tenth of the shepherd's processor time: little memory is used for long here.
const gcPercent = 800

// Run is the shepherd process that Connect starts: quill shepherd DIR. It returns as Serve does. When it serves it
// writes readyText to standard output and closes that. With starterWord for a directory it is a child of a shepherd:
// see careful.go; with readerWord it is one of execd: see reader.go.
func Run(dir string) error {
	switch dir {
	case starterWord:
		return runStarter()
	case readerWord:
		return runReader()
	}
	err := serve(dir, nil, func() {
		fmt.Print(readyText)
		if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
			syscall.Dup3(int(null.Fd()), 1, 0)
			null.Close()
		}
	})
	if errors.Is(err, errHeld) {
		fmt.Print(heldText)
	}
	return err
}

// Serve is the shepherd process of a unit to which a control group is delegated. It calls ready when it serves. It
// returns after Shutdown, after SIGTERM, having ended the jobs as those of a host that is shut down, after a minute
// without jobs and without execd, or at once with an error when another shepherd holds DIR.
func Serve(dir string, reserve Reserve, ready func()) error { return serve(dir, &reserve, ready) }

// serve divides the control group of the process when it has a reserve.
func serve(dir string, reserve *Reserve, ready func()) error {
	lock, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("%w: %s: %w", errHeld, lock.Name(), err)
	}
	k, err := newShepherd(dir)
	if err != nil {
		return err
	}
	if reserve != nil {
		if err := k.divideGroup(*reserve); err != nil {
			k.logf("jobs may use all memory of the host, because their control group cannot be made: %v", err)
		}
	}
	listener, err := k.listen()
	if err != nil {
		return err
	}
	// Caught and dropped: what the shepherd ignores its jobs would ignore too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGPIPE)
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	ready()
	go k.acceptClients(listener)
	go k.sampleLoop()

	select {
	case <-term:
		k.shutDown()
	case <-k.quit:
	}
	listener.Close() // removes the socket
	k.journal.close()
	k.socketDir.Close()
	lock.Close() // before the connections: who sees them end may start the next shepherd
	k.closeConnections()
	return nil
}

// closeConnections closes all connections once what is queued for them has left, or after a second.
func (k *shepherd) closeConnections() {
	k.mu.Lock()
	conns := slices.Collect(maps.Keys(k.conns))
	k.mu.Unlock()
	patience := time.After(time.Second)
	for _, c := range conns {
		c.out.close()
		select {
		case <-c.out.done:
		case <-patience:
			return
		}
	}
}

func newShepherd(dir string) (*shepherd, error) {
	syscall.Umask(usualUmask)
	unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) // what we were started with is not for jobs
	debug.SetGCPercent(gcPercent)
	k := &shepherd{
		dir: dir, jobs: -1, uid: uint32(os.Getuid()), gid: uint32(os.Getgid()), boot: procfs.BootID(),
		trusted:  trustedPrograms{uid: uint32(os.Getuid())},
		pid:      strconv.Itoa(os.Getpid()),
		starting: newStartPlaces(),
		removals: fair.NewPlaces("directories of jobs that are removed",
			fair.Limits{Total: removalsMax, User: removalsEach, Waiting: math.MaxInt}),
		quit:     make(chan struct{}),
		attempts: map[report.Attempt]*attempt{},
		conns:    map[*clientConn]struct{}{},
	}
	k.idle = sync.NewCond(&k.mu)
	_, err := ownGroups()
	if err != nil {
		return nil, err
	}
	liftLimits(k.uid == 0)
	if k.null, err = syscall.Open(os.DevNull, syscall.O_RDWR|syscall.O_CLOEXEC, 0); err != nil {
		return nil, err
	}
	records, err := k.recoverJournal()
	if err != nil {
		return nil, err
	}
	if k.reaper, err = newReaper(&k.slow); err != nil {
		return nil, err
	}
	k.journal, err = openJournal(filepath.Join(dir, journalName), records, k.liveRecords)
	return k, err
}

// startsMax is how many attempts prepare files or fork at the same time, and startsEach how many of one owner: more
// would only queue for the disk, each with a thread of its own. Owners take turns.
const (
	startsMax  = 64
	startsEach = 48
)

func newStartPlaces() *fair.Places {
	return fair.NewPlaces("attempts that start", fair.Limits{Total: startsMax, User: startsEach, Waiting: math.MaxInt})
}

// awaitPlace waits for one of the places, and returns what gives it back.
func awaitPlace(p *fair.Places, owner uint32) (leave func()) {
	// any number may wait
	leave, _ = p.Wait(context.Background(), fair.User{Name: strconv.FormatUint(uint64(owner), 10)}, 1)
	return leave
}

// liftLimits gives jobs what a queue without limits promises, INFINITY, as far as this process may: what it was started
// with was not requested. Of what queues do not limit only root's hard limits are lifted, to make room for jobs that
// ask.
func liftLimits(root bool) {
	for r := plan.CPU; r <= plan.Locks; r++ {
		resource := ulimits[r].resource
		var l unix.Rlimit
		if resource == unix.RLIMIT_NOFILE || unix.Getrlimit(resource, &l) != nil {
			continue
		}
		if root {
			higher := unix.Rlimit{Cur: l.Cur, Max: unix.RLIM_INFINITY}
			if unix.Setrlimit(resource, &higher) == nil { // root of a container may not
				l = higher
			}
		}
		if r <= plan.VMem {
			l.Cur = l.Max
			unix.Setrlimit(resource, &l)
		}
	}
}

func (k *shepherd) logf(format string, args ...any) { log.Printf(format, args...) }

// listen is called once: the directory stays open as long as the listener, which
// removes the socket by the path it was made with.
func (k *shepherd) listen() (net.Listener, error) {
	dir, err := os.Open(k.dir)
	if err != nil {
		return nil, err
	}
	k.socketDir = dir
	path := socketPath(dir)
	os.Remove(path) // a dead shepherd's: we hold the lock
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	return l, os.Chmod(path, 0o600)
}

// shutPatience is how long jobs may take to end when the host is shut down: their terminate_method, the time of
// -notify, their epilogs. The unit's TimeoutStopSec is longer.
const shutPatience = 30 * time.Second

// shutDown ends all attempts as those of a host that is shut down. It returns when nothing runs.
func (k *shepherd) shutDown() {
	late := time.AfterFunc(shutPatience, func() { k.stopAttempts(true) })
	defer late.Stop()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closing = true
	for _, a := range k.attempts {
		if a.now.State != plan.Ended {
			a.requestSignal(signalRequest{action: shutDown})
		}
	}
	for k.running > 0 {
		k.idle.Wait()
	}
}

// stopAttempts makes the shepherd start nothing more and, when forced, kills what runs. It returns when nothing runs.
func (k *shepherd) stopAttempts(force bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.running > 0 && !force {
		return fmt.Errorf("shepherd: %d attempts are running", k.running)
	}
	if k.unjournaled > 0 && !force {
		return fmt.Errorf("shepherd: the ends of %d attempts are not in the journal", k.unjournaled)
	}
	k.closing = true
	for k.running > 0 {
		for _, a := range k.attempts {
			if a.now.State != plan.Ended {
				a.requestSignal(signalRequest{action: action(syscall.SIGKILL)})
			}
		}
		again := time.AfterFunc(killPause, k.idle.Broadcast) // an epilog that began meanwhile has had its time
		k.idle.Wait()
		again.Stop()
	}
	return nil
}

// quitOnce makes Run return, once.
func (k *shepherd) quitOnce() {
	k.mu.Lock()
	defer k.mu.Unlock()
	select {
	case <-k.quit:
	default:
		close(k.quit)
	}
}

// quitWhenIdle ends a shepherd that is not needed, at once when its directory was removed: no execd can connect to it
// again. Ends not yet forgotten are in the journal.
func (k *shepherd) quitWhenIdle() {
	k.mu.Lock()
	k.alone++
	if k.running > 0 || k.unjournaled > 0 || len(k.conns) > 0 {
		k.alone = 0
	}
	over := k.alone >= aloneMax || k.alone > 0 && !exists(k.dir)
	k.closing = k.closing || over
	k.mu.Unlock()
	if over {
		k.quitOnce()
	}
}
