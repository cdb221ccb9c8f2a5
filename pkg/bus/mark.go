package bus

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
)

// mark remembers outside of the store up to where frames were acknowledged. A
// server that finds a bad record in the newest block after a crash cuts the log
// there and says nothing; from the log alone this cannot be seen.
//
// The mark is not synced: it survives the end of the process, and after a power
// cut it may only be too old.
type mark struct {
	file *os.File
	buf  []byte
}

func openMark(path string) (*mark, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("mark of the log: %w", err)
	}
	return &mark{file: f}, nil
}

// read is the point marked; the zero Point if there is none.
func (m *mark) read() Point {
	b := make([]byte, len(snapMagic)+pointBytes+sha256.Size)
	if n, _ := m.file.ReadAt(b, 0); n < len(b) {
		return Point{}
	}
	body, sum := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
	if want := sha256.Sum256(body); !bytes.Equal(sum, want[:]) {
		return Point{}
	}
	p, err := readPoint(bytes.NewReader(body))
	if err != nil {
		return Point{}
	}
	return p
}

func (m *mark) write(p Point) error {
	m.buf = appendPoint(append(m.buf[:0], snapMagic...), p)
	sum := sha256.Sum256(m.buf)
	m.buf = append(m.buf, sum[:]...)
	_, err := m.file.WriteAt(m.buf, 0)
	return err
}
