package session

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
)

// A frame is a byte that says what it is, four bytes of length, most
// significant first, and as many bytes of content:
//
//	from the command's end
//	  't' token    32 bytes, the first frame: let me in
//	  '1' stdout   bytes
//	  '2' stderr   bytes
//	  'c' credit   4 bytes: so much of stdin has been taken, so much more may come
//	  'f' failed   text: the command could not be started; the last frame
//	  'x' exit     2 bytes, status and signal: it has ended; the last frame
//	from qrsh
//	  'o' open     5 bytes, 1 for a terminal, rows and columns: the first frame
//	  '0' stdin    bytes; none: the end
//	  's' signal   1 byte
//	  'w' size     4 bytes, rows and columns
//
// Contents are bytes of a stream or of one fixed size, which a reader checks before it looks at them: nothing in them
// has a length, a type or optional fields of its own, as values of pkg/wire do.
//
// Output is held back by the connection itself. Input is not: after bytes that
// are not read a signal would never arrive. So qrsh sends no more than
// window bytes ahead of the command.
const (
	frameToken  = 't'
	frameAdmit  = 'a' // the token was the right one
	frameStdout = '1'
	frameStderr = '2'
	frameCredit = 'c'
	frameFailed = 'f'
	frameExit   = 'x'
	frameOpen   = 'o'
	frameStdin  = '0'
	frameSignal = 's'
	frameSize   = 'w'
)

const (
	headBytes    = 5
	contentBytes = 32 << 10 // the most in one frame
	window       = 256 << 10
)

// Link is one end of the line.
type Link struct {
	conn net.Conn
	in   *bufio.Reader
	body []byte

	sending sync.Mutex // a frame at a time
}

func newLink(conn net.Conn) *Link {
	return &Link{conn: conn, in: bufio.NewReaderSize(conn, contentBytes), body: make([]byte, contentBytes)}
}

// Close ends the session, whatever is still on its way.
func (l *Link) Close() error { return l.conn.Close() }

// send sends a frame.
func (l *Link) send(kind byte, content []byte) error {
	frame := make([]byte, headBytes, headBytes+len(content))
	return l.sendFrame(kind, append(frame, content...))
}

// sendFrame sends content that was left room for the head before it.
func (l *Link) sendFrame(kind byte, frame []byte) error {
	frame[0] = kind
	binary.BigEndian.PutUint32(frame[1:], uint32(len(frame)-headBytes))
	l.sending.Lock()
	defer l.sending.Unlock()
	_, err := l.conn.Write(frame)
	return err
}

// next reads a frame. The content is good until the next call.
func (l *Link) next() (kind byte, content []byte, err error) {
	var head [headBytes]byte
	if _, err := io.ReadFull(l.in, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > contentBytes {
		return 0, nil, fmt.Errorf("frame %q of %d bytes", head[0], n)
	}
	_, err = io.ReadFull(l.in, l.body[:n])
	return head[0], l.body[:n], err
}

// Size is that of a terminal in characters. Zero: unknown.
type Size struct{ Rows, Cols uint16 }

func (s Size) append(b []byte) []byte {
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(b, s.Rows), s.Cols)
}

func parseSize(b []byte) (Size, bool) {
	if len(b) != 4 {
		return Size{}, false
	}
	return Size{binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])}, true
}

// Exit is how the command ended.
type Exit struct {
	Status  int            // when it ended by itself
	Signal  syscall.Signal // or what killed it
	Failure string         // or why it was never started
}

// Code returns the exit status for it: 128 and the signal, 1 for a
// command that was not started.
func (e Exit) Code() int {
	switch {
	case e.Failure != "":
		return 1
	case e.Signal != 0:
		return 128 + int(e.Signal)
	}
	return e.Status
}
