package bus

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strconv"
	"time"
)

// A connection that speaks NATS, over the socket or the network, is carried to the
// server by bridgeConns, through an in-process pipe. So the server needs no port, and what
// clients send can be bounded before the server takes memory for it.

// bridgeConns carries bytes between client and inside until one of them is closed. from reads
// what the client sends; memory bounds its large messages. unread bounds what the client does
// not read; nil: the server does.
func bridgeConns(client net.Conn, from io.Reader, inside net.Conn, memory memoryReservation, unread *writeBuffer) {
	ended := make(chan struct{})
	go func() {
		if unread == nil {
			copyBytes(client, inside, func([]byte) error { return nil })
		} else {
			unread.relayTo(client, inside)
		}
		client.Close()
		close(ended)
	}()
	p := publishParser{memoryReservation: memory}
	copyBytes(inside, from, func(b []byte) error {
		err := p.parse(b)
		deadline := time.Time{}
		if p.held > 0 {
			deadline = time.Now().Add(partialWait)
		}
		return errors.Join(err, client.SetReadDeadline(deadline))
	})
	p.releaseMemory()
	inside.Close()
	client.Close()
	<-ended
}

// memoryReservation reserves memory for a large message, and releases it: see incompleteMessages.
type memoryReservation struct {
	reserve func(n int) error
	release func(n int)
}

// Sizes of the buffers of bridgeConns: it grows when much is sent.
const (
	bridgeBytes    = 2 << 10
	bridgeBytesMax = 32 << 10
)

// copyBytes copies until one end is closed or pass, which sees all that is copied, fails.
func copyBytes(to io.Writer, from io.Reader, pass func([]byte) error) {
	for buf := make([]byte, bridgeBytes); ; {
		n, err := from.Read(buf)
		if n > 0 {
			if pass(buf[:n]) != nil {
				return
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
		buf = growBuffer(buf, n)
	}
}

// growBuffer returns a larger buffer when n bytes have filled buf.
func growBuffer(buf []byte, n int) []byte {
	if n == len(buf) && n < bridgeBytesMax {
		return make([]byte, 2*n)
	}
	return buf
}

// publishParser follows the messages that a client publishes in the NATS protocol. The server takes
// memory for the whole of a message when it has seen its first line; so a large one is
// counted by reserve before that line is passed to the server, until all of it has come.
type publishParser struct {
	memoryReservation
	line []byte // the control line that has begun
	rest int    // bytes of a payload and its line end that have not come
	held int    // bytes that were reserved for it
}

// controlMax is more than the server accepts as a control line.
const controlMax = 8 << 10

var errControlLine = errors.New("control line is too long")

// parse parses b, the bytes after those of the last call.
func (p *publishParser) parse(b []byte) error {
	for len(b) > 0 {
		if p.rest > 0 {
			n := min(p.rest, len(b))
			b = b[n:]
			if p.rest -= n; p.rest == 0 {
				p.releaseMemory()
			}
			continue
		}
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			end = len(b) - 1
		}
		part := b[:end+1]
		b = b[end+1:]
		if len(p.line)+len(part) > controlMax {
			return errControlLine
		}
		if part[end] != '\n' {
			p.line = append(p.line, part...)
			return nil
		}
		if len(p.line) > 0 {
			part = append(p.line, part...)
			p.line = p.line[:0]
		}
		size, ok := payloadSize(part)
		if !ok {
			continue
		}
		p.rest = size + len("\r\n")
		if size > largeMessage {
			if err := p.reserve(size); err != nil {
				return err
			}
			p.held = size
		}
	}
	return nil
}

// payloadSize is the size of the payload after a control line; false: there is none.
func payloadSize(line []byte) (int, bool) {
	words := bytes.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == '\r' || r == '\n' })
	if len(words) < 3 || !bytes.EqualFold(words[0], []byte("PUB")) && !bytes.EqualFold(words[0], []byte("HPUB")) {
		return 0, false
	}
	size, err := strconv.Atoi(string(words[len(words)-1]))
	return size, err == nil && size >= 0 && size <= PayloadMax // else the server closes the connection
}

// releaseMemory releases the reserved bytes.
func (p *publishParser) releaseMemory() {
	if p.held > 0 {
		p.release(p.held)
		p.held = 0
	}
}
