package qmaster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/events"
	accountingfile "github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/grid"
)

// accountingFiles are the accounting file and accounting.jsonl, accounting(5): a record is
// written to the one that the configuration names at its list.
type accountingFiles struct{ colons, json *accounting }

// openAccountingFiles opens the accounting file, and accounting.jsonl if it is there: else its first record makes it.
func openAccountingFiles(c cell.Cell, note hclog.Logger) (f accountingFiles, err error) {
	if f.colons, err = openAccounting(c.Accounting(), accountingfile.Colons, note); err != nil {
		return accountingFiles{}, err
	}
	f.json = &accounting{trail: trail{path: c.AccountingJSON(), note: note}, format: accountingfile.JSON, absent: true}
	if f.json.exists() {
		if f.json, err = openAccounting(c.AccountingJSON(), accountingfile.JSON, note); err != nil {
			return accountingFiles{}, errors.Join(err, f.colons.trail.close())
		}
	}
	return f, nil
}

// of returns the file that a configuration names.
func (f accountingFiles) of(p grid.Reporting) *accounting {
	if p.OldFormat {
		return f.colons
	}
	return f.json
}

// write writes the records of outcomes that may leave.
func (f accountingFiles) write(out []outcome) error {
	for i := range out {
		if facts := out[i].facts; len(facts) > 0 {
			f.of(out[i].files).add(facts)
		}
	}
	return f.flush()
}

func (f accountingFiles) flush() error { return errors.Join(f.colons.flush(), f.json.flush()) }
func (f accountingFiles) sync() error  { return errors.Join(f.colons.sync(), f.json.sync()) }
func (f accountingFiles) close() error { return errors.Join(f.colons.close(), f.json.close()) }

// accounting writes one accounting file: one line per record. The
// lines do not say which list of the log they are from. So after a start the lines
// that the replayed lists ask for are compared with the end of the file, and those
// that are there already are not written again.
type accounting struct {
	trail
	format accountingfile.Format
	buf    []byte // what is not written

	fileEnd           // of the last line
	stood   fileEnd   // of the last line that is written
	asked   []fileEnd // of the lines in buf until the file is resumed
	resumed bool
	absent  bool // it is made with the first record
}

// fileEnd is how far a file goes.
type fileEnd struct {
	seq  uint64 // of the last line
	have int    // lines with that Seq
}

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

// openAccounting opens the file, cuts off a last line that is not whole, and reads
// where it begins.
func openAccounting(path string, format accountingfile.Format, note hclog.Logger) (*accounting, error) {
	a := &accounting{trail: trail{path: path, note: note}, format: format}
	if err := a.open(wholeLines); err != nil {
		return nil, fmt.Errorf("accounting: %w", err)
	}
	head := make([]byte, headBytes)
	n, err := a.file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("accounting: %w", err)
	}
	if strings.HasPrefix(format.Header, string(head[:n])) {
		// No record, and perhaps a crash while the header was written: resume writes it again.
		if err := a.file.Truncate(0); err != nil {
			return nil, fmt.Errorf("accounting: %w", err)
		}
	}
	for line := range bytes.Lines(head[:n]) {
		if _, err := fmt.Sscanf(string(line), format.Continues, &a.have, &a.seq); err == nil {
			break
		}
	}
	a.stood = a.fileEnd
	return a, nil
}

// headBytes are surely more than the comments at the beginning of a file.
const headBytes = 512

// wholeLines keeps all lines that are whole.
func wholeLines(lines []byte) (int, bool) { return len(lines), true }

// head is the beginning of a file that follows the last line that is written.
func (a *accounting) head() string {
	return a.format.Header + fmt.Sprintf(a.format.Continues, a.stood.have, a.stood.seq)
}

// resume drops the lines that are in the file already, or in the one that was moved
// away while qmaster was dead: the longest beginning of what was asked for that is
// the end of the file.
func (a *accounting) resume() error {
	a.resumed = true
	asked := slices.Collect(bytes.Lines(a.buf))
	there, err := tailOf(a.file, 2*len(a.buf)) // some may be there twice
	if err != nil {
		return err
	}
	if moved := false; len(there) == 0 {
		if err = a.recall(func(lines []byte) (int, bool) { moved = true; return len(lines), true }); err != nil {
			return err
		}
		if moved {
			old, err := os.Open(a.second())
			if err != nil {
				return err
			}
			there, err = tailOf(old, 2*len(a.buf))
			if err = errors.Join(err, old.Close()); err != nil {
				return err
			}
		}
	}
	done := overlap(asked, there)
	if done > 0 {
		a.stood = a.asked[done-1]
		a.buf = a.buf[len(bytes.Join(asked[:done], nil)):]
	}
	a.asked = nil
	size, err := a.file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if size == 0 {
		head := a.format.Header
		if a.stood != (fileEnd{}) {
			head = a.head()
		}
		if err := whole(a.file, []byte(head)); err != nil {
			return err
		}
	}
	return a.name()
}

// tailOf reads lines of records at the end of a file, at most so many bytes.
func tailOf(file *os.File, most int) (lines [][]byte, err error) {
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	from := max(0, size-int64(most)-headBytes)
	tail := make([]byte, size-from)
	if _, err := file.ReadAt(tail, from); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if from > 0 {
		tail = tail[bytes.IndexByte(tail, '\n')+1:]
	}
	for line := range bytes.Lines(tail) {
		if !accountingfile.Comment(line) {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// overlap is how many of the first lines asked for are the last that are there. A line that
// is there again does not count: a qmaster that led before may have written it late.
func overlap(asked, there [][]byte) int {
	first, at := firsts(asked)
	there, _ = firsts(there)
	for n := min(len(first), len(there)); n > 0; n-- {
		if slices.EqualFunc(first[:n], there[len(there)-n:], bytes.Equal) {
			return append(at, len(asked))[n]
		}
	}
	return 0
}

// firsts are the lines without those that were there before, and where they are in lines.
func firsts(lines [][]byte) (first [][]byte, at []int) {
	seen := make(map[string]bool, len(lines))
	for i, line := range lines {
		if !seen[string(line)] {
			seen[string(line)] = true
			first, at = append(first, line), append(at, i)
		}
	}
	return first, at
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
	if len(facts) == 0 {
		a.fileEnd = fileEnd{seq: l.Seq}
	}
}

func (a *accounting) add(facts []fact) {
	for _, f := range facts {
		if f.seq != a.seq {
			a.seq, a.have = f.seq, 0
		}
		a.have++
		a.buf = a.format.Append(a.buf, f.record)
		if !a.resumed {
			a.asked = append(a.asked, a.fileEnd)
		}
	}
}

// flush writes what is not written, or has it wait.
func (a *accounting) flush() error {
	if a.absent {
		if len(a.buf) == 0 {
			return nil
		}
		if !a.make() {
			return a.waits()
		}
	}
	if !a.resumed {
		if err := a.resume(); err != nil {
			return fmt.Errorf("accounting: %w", err)
		}
	}
	if len(a.buf) == 0 && a.trouble == nil {
		return nil
	}
	if !a.put(a.buf, a.head) {
		return a.waits()
	}
	a.buf, a.stood = a.buf[:0], a.fileEnd
	a.checkMoved(a.head)
	return nil
}

// waits returns an error when too many lines wait to be written.
func (a *accounting) waits() error {
	if err := a.late(a.buf); err != nil {
		return fmt.Errorf("accounting: %w", err)
	}
	return nil
}

// make makes a file that is absent; false: it cannot be made now.
func (a *accounting) make() bool {
	if a.trouble != nil && time.Since(a.tried) < trailRetry {
		return false
	}
	made := trail{path: a.path, note: a.note}
	if err := made.open(wholeLines); err != nil {
		return a.fails(err)
	}
	a.guard.Lock()
	a.file = made.file
	a.guard.Unlock()
	a.works()
	a.absent = false
	return true
}

// sync returns when everything written is on disk. It may be called by another
// goroutine than write.
func (a *accounting) sync() error {
	if err := a.trail.sync(); err != nil {
		return fmt.Errorf("accounting: %w", err)
	}
	return nil
}

func (a *accounting) close() error { return errors.Join(a.flush(), a.trail.close()) }
