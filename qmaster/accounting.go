package qmaster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/quill-grid/quill/events"
	accountingfile "github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/grid"
)

// accounting writes the accounting file, accounting(5): one line per record,
// its last field the Seq of the list that told it. The log is the truth: what a
// crash took from the end of the file is written again when the log is
// replayed, and no snapshot is taken before the file is on disk, so the lists
// are still there.
//
// The file may be moved away while qmaster runs, as log rotation does: within
// a second a new one is begun, whose first line says where the other ended.
type accounting struct {
	path  string
	guard sync.Mutex // of the file when it changes
	file  *os.File
	buf   []byte

	seq    uint64 // of the last line
	have   int    // lines with that Seq
	looked time.Time
}

// continued is the first line of a file that is not the first.
const continued = "# continues after record %d of list %d\n"

// fact is a record and the Seq of its list.
type fact struct {
	seq    uint64
	record *grid.Accounting
}

func factsOf(l events.List) (out []fact) {
	for _, e := range l.Events {
		if a, ok := e.Object.(*grid.Accounting); ok {
			out = append(out, fact{l.Seq, a})
		}
	}
	return out
}

// openAccounting opens the file, cuts off a last line that is not whole, and
// finds out how far it goes.
func openAccounting(path string) (*accounting, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("accounting: %w", err)
	}
	a := &accounting{path: path, file: f}
	if err := a.resume(); err != nil {
		f.Close()
		return nil, fmt.Errorf("accounting: %w", err)
	}
	return a, nil
}

// tailBytes is how much of the file's end is looked at first.
const tailBytes = 256 << 10

func (a *accounting) resume() error {
	size, err := a.file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	for n := int64(tailBytes); ; n *= 4 {
		from := max(0, size-n)
		tail := make([]byte, size-from)
		if _, err := a.file.ReadAt(tail, from); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		begin, whole := 0, bytes.LastIndexByte(tail, '\n')+1
		if from > 0 {
			begin = min(bytes.IndexByte(tail, '\n')+1, whole)
		}
		if !a.count(tail[begin:whole]) && from > 0 {
			continue // a list has more lines than we have looked at
		}
		end := from + int64(whole)
		if end < size {
			if err := a.file.Truncate(end); err != nil {
				return err
			}
		}
		_, err = a.file.Seek(end, io.SeekStart)
		return err
	}
}

// count finds the Seq of the last line and how many lines have it; false if
// there may be more of them before lines.
func (a *accounting) count(lines []byte) bool {
	a.seq, a.have = 0, 0
	for len(lines) > 0 {
		rest := lines[:len(lines)-1]
		start := bytes.LastIndexByte(rest, '\n') + 1
		if have, seq := 0, uint64(0); scan(lines[start:], &have, &seq) {
			if a.have == 0 || seq == a.seq {
				a.seq, a.have = seq, a.have+have
			}
			return true
		}
		_, seq, err := accountingfile.ParseLine(string(rest[start:]))
		ok := err == nil && seq > 0
		if a.have > 0 && (!ok || seq != a.seq) {
			return true
		}
		if !ok { // a comment, or a line of somebody else
			lines = lines[:start]
			continue
		}
		a.seq, a.have = seq, a.have+1
		lines = lines[:start]
	}
	return false
}

func scan(line []byte, have *int, seq *uint64) bool {
	n, _ := fmt.Sscanf(string(line), continued, have, seq)
	return n == 2
}

// Apply writes again what the file lacks: it is given the lists of the log that
// are replayed.
func (a *accounting) Apply(l events.List) {
	facts := factsOf(l)
	if l.Seq < a.seq || l.Seq == a.seq && len(facts) <= a.have {
		return
	}
	if l.Seq == a.seq {
		facts = facts[a.have:]
	}
	a.add(facts)
}

func (a *accounting) add(facts []fact) {
	for _, f := range facts {
		if f.seq != a.seq {
			a.seq, a.have = f.seq, 0
		}
		a.have++
		a.buf = accountingfile.AppendLine(a.buf, f.record, f.seq)
	}
}

// write writes the records of outcomes that may leave.
func (a *accounting) write(out []outcome) error {
	for i := range out {
		a.add(out[i].facts)
	}
	return a.flush()
}

func (a *accounting) flush() error {
	if len(a.buf) == 0 {
		return nil
	}
	_, err := a.file.Write(a.buf)
	a.buf = a.buf[:0]
	if err == nil && time.Since(a.looked) >= time.Second {
		a.looked = time.Now()
		err = a.follow()
	}
	if err != nil {
		return fmt.Errorf("accounting: %w", err)
	}
	return nil
}

// follow begins a new file if somebody has moved this one away.
func (a *accounting) follow() error {
	mine, err := a.file.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Stat(a.path); err == nil && os.SameFile(mine, there) || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := a.file.Sync(); err != nil {
		return err
	}
	next, err := os.OpenFile(a.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	a.guard.Lock()
	defer a.guard.Unlock()
	old := a.file
	a.file = next
	_, err = fmt.Fprintf(next, continued, a.have, a.seq)
	return errors.Join(err, old.Close())
}

// sync returns when everything written is on disk. It may be called by another
// goroutine than write.
func (a *accounting) sync() error {
	a.guard.Lock()
	defer a.guard.Unlock()
	if err := a.file.Sync(); err != nil {
		return fmt.Errorf("accounting: %w", err)
	}
	return nil
}

func (a *accounting) close() error { return errors.Join(a.flush(), a.sync(), a.file.Close()) }
