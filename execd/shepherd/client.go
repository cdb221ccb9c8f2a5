package shepherd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/report"
)

// ConnectOptions say where the shepherd runs and how to start it.
type ConnectOptions struct {
	// Dir holds the shepherd's socket, lock, journal and log. It must exist and belong to the shepherd's uid.
	Dir string
	// Program is run with Dir appended when no shepherd answers; nil is this executable with the argument "shepherd".
	Program []string
	// Unit is the systemd unit that is started instead, which runs Serve in Dir; "": none.
	Unit string
	// Durable makes begin and end of each attempt survive a power cut: one fsync for all that came together.
	// Without it they survive every death of execd and shepherd, but not of the machine.
	Durable bool
	// Priority is that of this process, in which a shepherd that it starts has no part.
	Priority NiceLevel
}

// ErrGone is returned by every call after the connection is lost or closed. Jobs are not affected: connect again.
var ErrGone = errors.New("shepherd: connection to the shepherd lost")

// Client is a connection to the host's shepherd. Its methods may be called from any goroutine.
type Client struct {
	durable bool
	pid     int
	out     *messageWriter[request]
	changes chan []plan.Status
	wake    chan struct{} // capacity 1: pending is not empty
	gone    chan struct{}

	mu      sync.Mutex
	last    uint64
	calls   map[uint64]chan reply
	pending []plan.Status
}

// Connect returns a connection to the shepherd of o.Dir, starting it, detached, when none answers.
func Connect(ctx context.Context, o ConnectOptions) (*Client, error) {
	for {
		c, err := dial(ctx, o.Dir)
		if err == nil {
			return newClient(c, o), nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, syscall.ENOENT) {
			return nil, fmt.Errorf("shepherd: %w", err)
		}
		switch err := launchShepherd(ctx, o); {
		case err == errHeld: // it does not serve yet, or it is about to go
			select {
			case <-time.After(heldPause):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		case err != nil:
			return nil, err
		}
	}
}

// dial reaches the shepherd that serves in a directory.
func dial(ctx context.Context, path string) (net.Conn, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	var d net.Dialer
	return d.DialContext(ctx, "unix", socketPath(dir))
}

// heldPause is how long Connect waits for a shepherd that holds the directory and does not answer.
const heldPause = 5 * time.Millisecond

var errHeld = errors.New("shepherd: another shepherd holds the directory")

// startUnit starts the shepherd's unit and returns when it serves.
func startUnit(ctx context.Context, unit string) error {
	said, err := exec.CommandContext(ctx, "systemctl", "start", unit).CombinedOutput()
	if err != nil {
		return fmt.Errorf("shepherd: systemctl start %s: %w: %s", unit, err, bytes.TrimSpace(said))
	}
	return nil
}

// launchShepherd starts the shepherd and returns when it serves; errHeld when it ended because there is one.
func launchShepherd(ctx context.Context, o ConnectOptions) error {
	if o.Unit != "" {
		return startUnit(ctx, o.Unit)
	}
	program := o.Program
	if program == nil {
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("shepherd: %w", err)
		}
		program = []string{self, "shepherd"}
	}
	log, err := os.OpenFile(filepath.Join(o.Dir, logName), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("shepherd: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(program[0], append(program[1:len(program):len(program)], o.Dir)...)
	cmd.Dir = "/"
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	serving, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("shepherd: %w", err)
	}
	if err := o.Priority.Start(cmd); err != nil {
		return fmt.Errorf("cannot start the shepherd: %w", err)
	}
	ready := make(chan error, 1)
	go func() {
		said, _ := io.ReadAll(serving) // ends when the shepherd serves or ends
		switch string(said) {
		case readyText:
			ready <- nil
		case heldText:
			ready <- errHeld
		default:
			ready <- fmt.Errorf("shepherd did not start, see %s: %s", log.Name(), strings.TrimSpace(string(said)))
		}
		cmd.Wait() // so that it leaves no zombie, whenever it ends
	}()
	select {
	case err := <-ready:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func newClient(c net.Conn, o ConnectOptions) *Client {
	pid := 0
	if shepherd, err := credentialsOf(c.(*net.UnixConn)); err == nil {
		pid = int(shepherd.Pid)
	}
	k := &Client{
		durable: o.Durable,
		pid:     pid,
		out:     newMessageWriter(c, requestFields),
		changes: make(chan []plan.Status),
		wake:    make(chan struct{}, 1),
		gone:    make(chan struct{}),
		calls:   map[uint64]chan reply{},
	}
	go k.readReplies(c)
	go k.deliverChanges()
	return k
}

// readReplies passes replies to their callers and unsolicited ones to deliverChanges.
func (k *Client) readReplies(c net.Conn) {
	defer close(k.gone)
	defer k.out.close()
	in := newMessageReader(c, replyFields)
	for {
		r, err := in.readNext()
		if err != nil {
			return
		}
		k.mu.Lock()
		if r.ID == 0 {
			k.pending = append(k.pending, r.Statuses...)
		} else if call := k.calls[r.ID]; call != nil {
			delete(k.calls, r.ID)
			call <- r
		}
		k.mu.Unlock()
		if r.ID == 0 {
			select {
			case k.wake <- struct{}{}:
			default:
			}
		}
	}
}

// deliverChanges feeds Changes; what arrives while the receiver is busy is joined to one batch.
func (k *Client) deliverChanges() {
	defer close(k.changes)
	for {
		select {
		case <-k.wake:
		case <-k.gone:
			return
		}
		k.mu.Lock()
		batch := k.pending
		k.pending = nil
		k.mu.Unlock()
		if len(batch) == 0 {
			continue
		}
		select {
		case k.changes <- batch:
		case <-k.gone:
			return
		}
	}
}

func (k *Client) call(ctx context.Context, r request) (reply, error) {
	answer := make(chan reply, 1)
	k.mu.Lock()
	k.last++
	r.ID = k.last
	k.calls[r.ID] = answer
	k.mu.Unlock()
	if !k.out.send(r) {
		return reply{}, ErrGone
	}
	var a reply
	select {
	case a = <-answer:
	case <-ctx.Done():
		k.mu.Lock()
		delete(k.calls, r.ID)
		k.mu.Unlock()
		return reply{}, ctx.Err()
	case <-k.gone:
		select {
		case a = <-answer: // it was the last message of the shepherd
		default:
			return reply{}, ErrGone
		}
	}
	if a.Error != "" {
		return a, errors.New(a.Error)
	}
	return a, nil
}

// Changes delivers what happens, in order, in batches: an attempt that runs, one that is suspended or resumed, one
// that ended. The first thing after Connect is every attempt that has ended and is not yet forgotten, so an end is
// delivered once per connection until Forget. A slow receiver delays nothing. The channel is closed when the
// connection is lost or closed.
func (k *Client) Changes() <-chan []plan.Status { return k.changes }

// Start sends plans. It returns when all accepted ones are journaled; their processes start at once after that,
// and their changes arrive on Changes. An attempt that is known already is answered with its state and is not run
// again.
func (k *Client) Start(ctx context.Context, plans []plan.Plan) ([]plan.Answer, error) {
	r, err := k.call(ctx, request{Verb: verbStart, Plans: plans, Durable: k.durable})
	return r.Answers, err
}

// Signal suspends, resumes, terminates or migrates attempts. Those that are unknown or have ended are returned as gone.
// It returns before a Notify delay has passed.
func (k *Client) Signal(
	ctx context.Context, kind report.SignalKind, attempts ...report.Attempt,
) (gone []report.Attempt, err error) {
	r, err := k.call(ctx, request{Verb: verbSignal, Signal: kind, Attempts: attempts})
	return r.Gone, err
}

// Change gives attempts that run other limits, and returns when each has them or has refused them.
func (k *Client) Change(ctx context.Context, changes []plan.LimitsChange) ([]plan.Changed, error) {
	r, err := k.call(ctx, request{Verb: verbChange, Changes: changes})
	return r.Changed, err
}

// List returns all attempts that are not forgotten, in the order of their keys.
func (k *Client) List(ctx context.Context) ([]plan.Status, error) {
	r, err := k.call(ctx, request{Verb: verbList})
	return r.Statuses, err
}

// Used returns what the given attempts have used so far, all running ones when none is given. Unknown ones are left
// out. The figures are those of the shepherd's last sample, at most a second or two old.
func (k *Client) Used(ctx context.Context, attempts ...report.Attempt) ([]plan.Used, error) {
	r, err := k.call(ctx, request{Verb: verbUsage, Attempts: attempts})
	return r.Used, err
}

// Forget drops ended attempts from the shepherd's memory and journal. Those that have not ended are left alone.
func (k *Client) Forget(ctx context.Context, attempts ...report.Attempt) error {
	_, err := k.call(ctx, request{Verb: verbForget, Attempts: attempts})
	return err
}

// Shutdown ends the shepherd. While attempts run it is refused, unless force is set: then they are killed first and
// their ends stay in the journal for the next shepherd to report. It returns when the shepherd has released Dir.
func (k *Client) Shutdown(ctx context.Context, force bool) error {
	if _, err := k.call(ctx, request{Verb: verbShutdown, Force: force}); err != nil {
		return err
	}
	select {
	case <-k.gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends the connection. The shepherd and its jobs stay.
func (k *Client) Close() error {
	k.out.close()
	<-k.gone
	return nil
}

// Adopt makes the parent of this process part of the newest job of a user that runs under the shepherd of dir, and
// returns that. It starts no shepherd: without one no job runs.
func Adopt(ctx context.Context, dir string, uid uint32, parent int) (report.Attempt, error) {
	c, err := dial(ctx, dir)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ECONNREFUSED):
		return report.Attempt{}, errors.New("no job runs on this host")
	case err != nil:
		return report.Attempt{}, err
	}
	// Who chooses the directory by a variable must not answer in place of the shepherd.
	if peer, err := credentialsOf(c.(*net.UnixConn)); err != nil || peer.Uid != 0 && int(peer.Uid) != os.Geteuid() {
		c.Close()
		return report.Attempt{}, fmt.Errorf("%s: no shepherd of root answers", dir)
	}
	k := newClient(c, ConnectOptions{Dir: dir})
	defer k.Close()
	r, err := k.call(ctx, request{Verb: verbAdopt, UID: uid, Pid: parent})
	return r.Joined, err
}
