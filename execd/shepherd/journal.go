package shepherd

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// journalRecord is one entry of the journal. One field is set, or none. In the file recordMark and a checksum precede
// it, packed.
type journalRecord struct {
	Begin  *beginRecord
	Seen   *processRecord
	End    *endRecord
	Forget []report.Attempt
	Left   []string // paths as in begin.Remove that could not be removed
}

// recordMark is the beginning of a record: after a damaged one the next is found by it.
const recordMark = "\nQUILL"

// checkBytes is the size of the checksum, CRC-32 (IEEE).
const checkBytes = 4

// beginRecord is written before the first fork of an attempt: what the next shepherd needs to clean up after it.
type beginRecord struct {
	Attempt report.Attempt
	Time    grid.Time
	Boot    string // boot id: after a reboot no process is left
	Spool   string // marks the processes
	Cgroup  string
	Remove  []string // leavings of the plan

	JobCgroup string // around Cgroup

	UIDs []uint32 // of its processes
}

// processRecord is written once a job has lived long enough to be sampled. With it the next shepherd knows a process
// that has dropped the marker from its environment.
type processRecord struct {
	Attempt report.Attempt
	Pid     int
	Ticks   uint64 // its start, /proc/PID/stat field 22: distinguishes it from a later process with the same id
}

type endRecord struct {
	Attempt report.Attempt
	Pid     int
	End     plan.End
}

// journal is the append-only file. The goroutine that adds a record writes it; what others add meanwhile is written
// after it in one write and, if any of it asked for that, with one fsync.
type journal struct {
	path string
	live func() []journalRecord

	mu      sync.Mutex
	idle    *sync.Cond // writing became false
	writing bool
	closed  bool
	next    journalBatch // what waits for the write under way

	// Of the one that writes.
	file  *os.File
	size  int64
	limit int64        // compact when it is larger
	spare journalBatch // memory for another
}

// journalBatch is what goes out together.
type journalBatch struct {
	b       []byte
	durable bool
	then    []func(error) // called in order
}

// compactSize is the size at which the journal is first rewritten without what has been forgotten.
const compactSize = 4 << 20

// readJournal returns the records of the file as parseJournal does.
func readJournal(path string) (records []journalRecord, damaged int, err error) {
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, 0, err
	}
	records, damaged = parseJournal(b)
	return records, damaged, nil
}

// parseJournal returns the records in b, oldest first. A damaged end is an append that never finished; damaged
// stretches in the middle are counted and skipped. Strings in the records share the memory of b.
func parseJournal(b []byte) (records []journalRecord, damaged int) {
	lost := false
	for len(b) > 0 {
		r, size := firstRecord(b)
		if size > 0 {
			if lost { // not at the end after all
				damaged++
				lost = false
			}
			records = append(records, r)
			b = b[size:]
			continue
		}
		lost = true
		next := bytes.Index(b[1:], []byte(recordMark))
		if next < 0 {
			break
		}
		b = b[1+next:]
	}
	return records, damaged
}

// firstRecord returns the record that b begins with and its length, 0 when there is none.
func firstRecord(b []byte) (r journalRecord, size int) {
	const head = len(recordMark) + checkBytes
	if len(b) < head+lengthBytes || !bytes.HasPrefix(b, []byte(recordMark)) {
		return r, 0
	}
	size = head + lengthBytes + int(binary.BigEndian.Uint32(b[head:]))
	if size > len(b) || crc32.ChecksumIEEE(b[head:size]) != binary.BigEndian.Uint32(b[len(recordMark):]) ||
		unpack(b[head+lengthBytes:size], &r, recordFields) != nil {
		return r, 0
	}
	return r, size
}

func appendRecord(b []byte, r *journalRecord) []byte {
	b = append(b, recordMark...)
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	b = packSized(b, r, recordFields)
	binary.BigEndian.PutUint32(b[at:], crc32.ChecksumIEEE(b[at+checkBytes:]))
	return b
}

// openJournal replaces the file by one that holds just the given records, durably. live is
// asked for the records to keep each time the file has grown enough to be worth rewriting.
func openJournal(path string, records []journalRecord, live func() []journalRecord) (*journal, error) {
	f, size, err := rewriteJournal(path, records)
	if err != nil {
		return nil, err
	}
	j := &journal{path: path, live: live, file: f, size: size, limit: max(compactSize, 4*size)}
	j.idle = sync.NewCond(&j.mu)
	return j, nil
}

// rewriteJournal puts a file with just these records in place of path: write, fsync, rename, fsync of the directory.
// The file it returns, if any, is in place, even when that last fsync failed.
func rewriteJournal(path string, records []journalRecord) (*os.File, int64, error) {
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return nil, 0, err
	}
	var b []byte
	for i := range records {
		b = appendRecord(b, &records[i])
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		f.Close()
		os.Remove(path + ".new") // room for others
		return nil, 0, err
	}
	return f, int64(len(b)), syncDir(filepath.Dir(path))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// add writes records, or has them written by the goroutine that is writing. then, if not nil, is called, here or there,
// once they are, and synced when durable is set.
func (j *journal) add(durable bool, then func(error), records ...journalRecord) {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		if then != nil {
			then(os.ErrClosed)
		}
		return
	}
	n := &j.next
	for i := range records {
		n.b = appendRecord(n.b, &records[i])
	}
	n.durable = n.durable || durable
	if then != nil {
		n.then = append(n.then, then)
	}
	if j.writing {
		j.mu.Unlock()
		return
	}
	j.writing = true
	more := j.writeBatch()
	j.mu.Unlock()
	if more {
		go j.writeQueued()
	}
}

// writeQueued writes until nothing waits.
func (j *journal) writeQueued() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.writeBatch() {
	}
}

// writeBatch writes what waits and reports whether more has come meanwhile; if not, writing is false again. Called with
// mu held, which it releases meanwhile.
func (j *journal) writeBatch() (more bool) {
	w := j.next
	j.next = j.spare
	j.mu.Unlock()
	err := j.appendBatch(&w)
	for _, then := range w.then {
		then(err)
	}
	clear(w.then)
	if j.size > j.limit {
		j.compact()
	}
	j.mu.Lock()
	j.spare = journalBatch{b: w.b[:0], then: w.then[:0]}
	if j.writing = len(j.next.b)+len(j.next.then) > 0; !j.writing {
		j.idle.Broadcast()
	}
	return j.writing
}

// appendBatch puts a batch into the file, whole or not at all.
func (j *journal) appendBatch(w *journalBatch) error {
	_, err := j.file.Write(w.b)
	if err == nil && w.durable {
		err = j.file.Sync()
	}
	if err == nil {
		j.size += int64(len(w.b))
	} else {
		j.file.Truncate(j.size) // leave no half record
		if e := (*os.PathError)(nil); errors.As(err, &e) {
			e.Path = j.path // the name that the file was made with is not its name
		}
	}
	return err
}

// compact rewrites the file without what has been forgotten; what was written so far has been reported. When it fails
// the old file stays in use; it is tried again when the file has doubled.
func (j *journal) compact() {
	j.limit = 2 * j.size
	if f, n, _ := rewriteJournal(j.path, j.live()); f != nil {
		j.file.Close()
		j.file, j.size, j.limit = f, n, max(compactSize, 4*n)
	}
}

// close returns when all that was added is on disk. What is added later is refused.
func (j *journal) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	for j.writing {
		j.idle.Wait()
	}
	j.file.Sync()
	j.file.Close()
}
