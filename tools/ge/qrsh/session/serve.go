package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// grace is what a command has to end after its user is gone.
const grace = 2 * time.Second

// Serve runs the command for the other end and returns how it ended. All of its
// output is sent before its end; then Serve waits until the other end has got
// it. When that is lost the command is hung up, SIGHUP, and killed if it stays.
func (l *Link) Serve(c Command) (Exit, error) {
	l.conn.SetReadDeadline(time.Now().Add(patience))
	kind, content, err := l.next()
	if err == nil && (kind != frameOpen || len(content) != 5) {
		err = fmt.Errorf("frame %q instead of the first", kind)
	}
	if err != nil {
		return Exit{Status: 1}, err
	}
	l.conn.SetReadDeadline(time.Time{})
	size, _ := parseSize(content[1:])
	r, err := c.start(content[0] == 1, size)
	if err != nil {
		exit := Exit{Failure: fmt.Sprintf("executing child process %s failed: %s", c.Argv[0], reason(err))}
		err = l.send(frameFailed, []byte(exit.Failure))
		for err == nil { // until the other end has got it
			_, _, err = l.next()
		}
		return exit, nil
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		l.handle(r)
	}()
	exit := l.output(r, gone)
	l.send(frameExit, []byte{byte(exit.Status), byte(exit.Signal)})
	<-gone
	return exit, nil
}

// handle executes the requests of the other end until it is gone.
func (l *Link) handle(r *running) {
	defer l.Close()
	in := newInbox()
	defer in.put(nil)
	go l.input(r, in)
	for {
		kind, content, err := l.next()
		if err != nil {
			return
		}
		switch kind {
		case frameStdin:
			if !in.put(content) {
				return // more than was allowed
			}
		case frameSignal:
			if len(content) == 1 {
				r.signal(syscall.Signal(content[0]))
			}
		case frameSize:
			if size, ok := parseSize(content); ok {
				r.resize(size)
			}
		}
	}
}

// input gives the command what came for it, and credit for what it took. What
// it does not want any more is thrown away.
func (l *Link) input(r *running, in *inbox) {
	var last byte
	for bytes := in.takeBytes(); bytes != nil; bytes = in.takeBytes() {
		r.stdin.Write(bytes)
		last = bytes[len(bytes)-1]
		l.send(frameCredit, binary.BigEndian.AppendUint32(nil, uint32(len(bytes))))
	}
	r.endInput(last)
}

// inbox is input that the command has not taken yet.
type inbox struct {
	mu    sync.Mutex
	some  *sync.Cond
	bytes []byte
	end   bool
}

func newInbox() *inbox {
	in := &inbox{}
	in.some = sync.NewCond(&in.mu)
	return in
}

// put adds bytes; none are the end. It is false when that is more than the
// window.
func (in *inbox) put(bytes []byte) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.end || len(in.bytes)+len(bytes) > window {
		return in.end
	}
	in.bytes = append(in.bytes, bytes...)
	in.end = len(bytes) == 0
	in.some.Signal()
	return true
}

// takeBytes waits for bytes; nil is the end.
func (in *inbox) takeBytes() []byte {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.bytes) == 0 && !in.end {
		in.some.Wait()
	}
	bytes := in.bytes
	in.bytes = nil
	return bytes
}

// output sends what the command writes until it has ended, and returns how.
func (l *Link) output(r *running, gone <-chan struct{}) Exit {
	var pumps sync.WaitGroup
	pumps.Go(func() { l.pump(frameStdout, r.stdout) })
	if r.stderr != nil {
		pumps.Go(func() { l.pump(frameStderr, r.stderr) })
	}
	over := make(chan struct{})
	go r.hangUp(gone, over)
	state, err := r.process.Wait()
	close(over)
	for _, f := range []*os.File{r.stdin, r.stdout, r.stderr} {
		f.SetDeadline(time.Now()) // no process waits for what others may read or write
	}
	pumps.Wait()
	if err != nil {
		return Exit{Status: 1}
	}
	status := state.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return Exit{Signal: status.Signal()}
	}
	return Exit{Status: status.ExitStatus()}
}

// hangUp ends a command whose user is gone before it is over.
func (r *running) hangUp(gone, over <-chan struct{}) {
	select {
	case <-over:
		return
	case <-gone:
	}
	select {
	case <-over:
		return
	default:
	}
	group := -r.process.Pid
	syscall.Kill(group, syscall.SIGHUP)
	syscall.Kill(group, syscall.SIGCONT)
	select {
	case <-over:
	case <-time.After(grace):
		syscall.Kill(group, syscall.SIGKILL)
	}
}

// pump sends one stream up to its end, or to what is there when the command
// has ended.
func (l *Link) pump(kind byte, f *os.File) {
	frame := make([]byte, headBytes+contentBytes)
	content := frame[headBytes:]
	send := func(n int) error { return l.sendFrame(kind, frame[:headBytes+n]) }
	for {
		n, err := f.Read(content)
		if n > 0 && send(n) != nil {
			break
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			leftover(f, content, send)
			break
		}
		if err != nil {
			break
		}
	}
	f.Close()
}

// reason is the system's word for an error, as strerror(3) prints it.
func reason(err error) string {
	var no syscall.Errno
	switch {
	case errors.Is(err, exec.ErrNotFound):
		no = syscall.ENOENT
	case !errors.As(err, &no):
		return err.Error()
	}
	text := no.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}
