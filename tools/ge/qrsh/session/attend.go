package session

import (
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"syscall"
)

// ErrLost means that the line broke before the command's end was reported.
var ErrLost = errors.New("the connection to the command is lost")

// Open is the first that qrsh says: whether the command gets a terminal, and
// the size of the user's own.
func (l *Link) Open(terminal bool, size Size) error {
	open := []byte{0}
	if terminal {
		open[0] = 1
	}
	return l.send(frameOpen, size.append(open))
}

// Signal passes a signal on to the command.
func (l *Link) Signal(s syscall.Signal) error { return l.send(frameSignal, []byte{byte(s)}) }

// Resize gives the command's terminal the size of the user's.
func (l *Link) Resize(size Size) error { return l.send(frameSize, size.append(nil)) }

// Attend sits in front of the command, after Open, until it has ended and all
// of its output has been written. stdin nil: the command has no input. The
// error is ErrLost, or that of writing the output.
func (l *Link) Attend(stdin io.Reader, stdout, stderr io.Writer) (Exit, error) {
	credit := newCredit(window)
	defer credit.end()
	go l.feed(stdin, credit)
	for {
		kind, content, err := l.next()
		if err != nil {
			return Exit{}, ErrLost
		}
		switch {
		case kind == frameStdout:
			_, err = stdout.Write(content)
		case kind == frameStderr:
			_, err = stderr.Write(content)
		case kind == frameCredit && len(content) == 4:
			credit.add(int(binary.BigEndian.Uint32(content)))
		case kind == frameFailed:
			return Exit{Failure: string(content)}, nil
		case kind == frameExit && len(content) == 2:
			return Exit{Status: int(content[0]), Signal: syscall.Signal(content[1])}, nil
		}
		if err != nil {
			return Exit{}, err
		}
	}
}

// feed sends the input as far as the command takes it.
func (l *Link) feed(stdin io.Reader, credit *credit) {
	frame := make([]byte, headBytes+contentBytes)
	for stdin != nil {
		room := credit.wait(contentBytes)
		if room < 0 {
			return
		}
		n, err := stdin.Read(frame[headBytes : headBytes+room])
		credit.use(n)
		if n > 0 && l.sendFrame(frameStdin, frame[:headBytes+n]) != nil {
			return
		}
		if err != nil {
			break
		}
	}
	l.send(frameStdin, nil)
}

// credit is how many bytes of input may be sent.
type credit struct {
	mu    sync.Mutex
	more  *sync.Cond
	bytes int
	over  bool
}

func newCredit(bytes int) *credit {
	c := &credit{bytes: bytes}
	c.more = sync.NewCond(&c.mu)
	return c
}

// add allows more.
func (c *credit) add(bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes += bytes
	c.more.Broadcast()
}

// end allows nothing ever again.
func (c *credit) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	c.more.Broadcast()
}

// wait waits until something may be sent and says how much, at most most; -1:
// it is over.
func (c *credit) wait(most int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.bytes <= 0 && !c.over {
		c.more.Wait()
	}
	if c.over {
		return -1
	}
	return min(c.bytes, most)
}

func (c *credit) use(bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes -= bytes
}
