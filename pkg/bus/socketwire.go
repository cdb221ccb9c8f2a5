package bus

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

type localAnswer struct {
	how  byte
	data []byte
}

// How a request was answered.
const (
	localUnserved = 0
	localAnswered = 1
	localBusy     = 2
)

const (
	localHead   = 4 + 8 + 1
	localBuffer = 16 << 10
	askPrefix   = "ask "
	tokenHello  = "token " // before the text of a token
	helloMax    = 1024
	// localMessageMax is the longest request or answer without its first length: a payload,
	// a number, a WHAT.
	localMessageMax = 8 + 1 + 255 + PayloadMax
)

// messageReader reads the requests or answers that come in over a local connection.
type messageReader struct {
	buf               []byte
	memoryReservation     // when set, for messages longer than largeMessage
	held              int // bytes that were reserved
}

// readMessages reads what there is and calls each with all that are whole, without their
// first length; they are valid until each returns, those for which reserve was called
// for ever.
func (in *messageReader) readMessages(from io.Reader, each func([]byte) error) error {
	if err := in.growBuffer(); err != nil {
		return err
	}
	n, err := from.Read(in.buf[len(in.buf):cap(in.buf)])
	in.buf = in.buf[:len(in.buf)+n]
	rest := in.buf
	for len(rest) >= 4 && err == nil {
		size := int(binary.BigEndian.Uint32(rest))
		if size < 9 || size > localMessageMax {
			return errors.New("not a message of a line")
		}
		if len(rest) < 4+size {
			break
		}
		err = each(rest[4 : 4+size])
		rest = rest[4+size:]
	}
	if in.held > 0 && len(rest) < len(in.buf) { // the large message is complete
		in.buf = append(make([]byte, 0, max(localBuffer, len(rest))), rest...)
		in.releaseMemory()
		return err
	}
	in.buf = in.buf[:copy(in.buf, rest)]
	return err
}

// growBuffer makes room for more of what has begun to come: the whole message, when its
// length is known.
func (in *messageReader) growBuffer() error {
	if len(in.buf) < cap(in.buf) {
		return nil
	}
	more := localBuffer
	if len(in.buf) >= 4 {
		whole := 4 + int(binary.BigEndian.Uint32(in.buf))
		more = max(more, whole-len(in.buf))
		if whole > largeMessage && in.reserve != nil && in.held == 0 {
			if err := in.reserve(whole); err != nil {
				return err
			}
			in.held = whole
		}
	}
	in.buf = slices.Grow(in.buf, more)
	return nil
}

// releaseMemory releases the reserved bytes.
func (in *messageReader) releaseMemory() {
	if in.held > 0 {
		in.release(in.held)
		in.held = 0
	}
}

// How the server begins its part of the exchange.
const (
	greetRefused = 0
	greetWelcome = 1
	greetBusy    = 2
)

// appendText and readText frame the exchange before NATS: two bytes of length,
// then the text.
func appendText(dst []byte, text string) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(text)))
	return append(dst, text...)
}

func readText(r io.Reader) (string, error) {
	var size [2]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return "", err
	}
	n := binary.BigEndian.Uint16(size[:])
	if n > helloMax {
		return "", errors.New("greeting is too long")
	}
	text := make([]byte, n)
	_, err := io.ReadFull(r, text)
	return string(text), err
}
