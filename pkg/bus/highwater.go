package bus

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/quill-grid/quill/pkg/frame"
)

// highWaterMark stores, outside of the server's store, the position up to which frames were
// acknowledged. A server that finds a bad record in the newest block after a crash
// truncates the log there without an error; the log alone does not show it.
//
// The high-water mark is not synced: it survives the end of the process, and after a power cut it
// may only be too old. If the log is not synced either, the mark is valid for that boot
// of the machine only.
type highWaterMark struct {
	file    *os.File
	boot    []byte // of the machine
	written []byte // for which boot marks are written: none when the log is synced
	buf     []byte
}

func openHighWaterMark(path string, unsynced bool) (*highWaterMark, error) {
	m := &highWaterMark{}
	var err error
	if m.boot, err = currentBootID(); err != nil {
		return nil, err
	}
	if unsynced {
		m.written = m.boot
	}
	if m.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, fmt.Errorf("mark of the log: %w", err)
	}
	return m, nil
}

// currentBootID returns the name of the time since the machine came up.
func currentBootID() ([]byte, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return nil, fmt.Errorf("mark of the log: %w", err)
	}
	return id, nil
}

// highWaterSum guards a high-water mark that holds for one boot, or for all.
func highWaterSum(body, boot []byte) [sha256.Size]byte {
	return sha256.Sum256(append(body[:len(body):len(body)], boot...))
}

// readPoint returns the point marked; the zero Point if there is none.
func (m *highWaterMark) readPoint() frame.Point {
	b := make([]byte, frame.PointSize+sha256.Size)
	if n, _ := m.file.ReadAt(b, 0); n < len(b) {
		return frame.Point{}
	}
	body, sum := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
	always, now := highWaterSum(body, nil), highWaterSum(body, m.boot)
	if !bytes.Equal(sum, always[:]) && !bytes.Equal(sum, now[:]) {
		return frame.Point{}
	}
	p, err := frame.DecodePoint(body)
	if err != nil {
		return frame.Point{}
	}
	return p
}

// lossAt returns the damage of a log that ends at end, or with a snapshot at the list
// known, though more was acknowledged; nil: it is all there.
func (m *highWaterMark) lossAt(end frame.Point, known uint64) *frame.Damage {
	said := m.readPoint()
	if said.Seq <= max(end.Seq, known) {
		return nil
	}
	return &frame.Damage{After: end, Reason: fmt.Sprintf("lists up to %d were acknowledged, they are gone", said.Seq)}
}

// CheckHighWaterMark looks into the high-water mark of a log that no process has open, which ends at the
// list last. The error is a *Damage if more was acknowledged. Without a mark
// nothing is known to be gone.
func CheckHighWaterMark(path string, last uint64) error {
	m, err := readHighWaterMark(path)
	if m == nil || err != nil {
		return err
	}
	defer m.file.Close()
	if d := m.lossAt(frame.Point{Seq: last}, 0); d != nil {
		return d
	}
	return nil
}

// readHighWaterMark opens a high-water mark that is only read; nil: there is none.
func readHighWaterMark(path string) (*highWaterMark, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("mark of the log: %w", err)
	}
	boot, err := currentBootID()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &highWaterMark{file: file, boot: boot}, nil
}

func (m *highWaterMark) writePoint(p frame.Point) error {
	m.buf = frame.AppendPoint(m.buf[:0], p)
	sum := highWaterSum(m.buf, m.written)
	m.buf = append(m.buf, sum[:]...)
	_, err := m.file.WriteAt(m.buf, 0)
	return err
}
