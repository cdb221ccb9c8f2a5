package shepherd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// record is one line of the journal: a checksum, a blank, and this as JSON. Exactly one field is set.
type record struct {
	Begin  *begin     `json:",omitempty"`
	Seen   *seen      `json:",omitempty"`
	End    *endRecord `json:",omitempty"`
	Forget []Key      `json:",omitempty"`
}

// begin is written before the first fork of an attempt: what the next keeper needs to clean up after it.
type begin struct {
	Key    Key
	Time   time.Time
	Boot   string   // boot id: after a reboot no process is left
	Spool  string   // marks the processes
	Cgroup string   `json:",omitempty"`
	Remove []string // Plan.leavings
}

// seen is written once a job has lived long enough to be sampled. With it the next keeper knows a process that
// has dropped the marker from its environment.
type seen struct {
	Key   Key
	Pid   int
	Ticks uint64 // its start, /proc/PID/stat field 22: tells it from a later process with the same id
}

type endRecord struct {
	Key Key
	Pid int
	// Started is when the job was started.
	Started time.Time
	End     End
}

// journal is the append-only file. One goroutine writes; everything queued while it was writing goes out in one write
// and, if any of it asked for that, one fsync.
type journal struct {
	path  string
	queue chan entry
	done  chan struct{} // closed: all is written

	mu     sync.RWMutex
	closed bool // and with it queue
}

type entry struct {
	lines   []byte
	durable bool
	then    func(error) // called in order of queueing, from the writer's goroutine; may be nil
}

// compactSize is the size at which the journal is first rewritten without what has been forgotten.
const compactSize = 4 << 20

// readJournal returns the records of the file, oldest first. A damaged last line is an append that never finished; one
// in the middle is reported in damaged and skipped.
func readJournal(path string) (records []record, damaged int, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	bad := 0
	for line := range bytes.Lines(data) {
		r, ok := parseLine(line)
		if !ok {
			bad++
			continue
		}
		damaged += bad // not the last line after all
		bad = 0
		records = append(records, r)
	}
	return records, damaged, nil
}

func parseLine(line []byte) (r record, ok bool) {
	sum, body, found := bytes.Cut(line, []byte{' '})
	if !found || !bytes.HasSuffix(body, []byte{'\n'}) {
		return r, false
	}
	want, err := strconv.ParseUint(string(sum), 16, 32)
	body = body[:len(body)-1]
	if err != nil || crc32.ChecksumIEEE(body) != uint32(want) {
		return r, false
	}
	return r, json.Unmarshal(body, &r) == nil
}

func appendLine(b []byte, r record) []byte {
	body, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("shepherd: journal record: %v", err)) // plain structs: cannot fail
	}
	b = fmt.Appendf(b, "%08x ", crc32.ChecksumIEEE(body))
	return append(append(b, body...), '\n')
}

// openJournal replaces the file by one that holds just the given records, durably, and starts the writer. live is
// asked for the records to keep each time the file has grown enough to be worth rewriting.
func openJournal(path string, records []record, live func() []record) (*journal, error) {
	f, size, err := rewrite(path, records)
	if err != nil {
		return nil, err
	}
	j := &journal{path: path, queue: make(chan entry, 1024), done: make(chan struct{})}
	go j.run(f, size, live)
	return j, nil
}

// rewrite puts a file with just these records in place of path: write, fsync, rename, fsync of the directory. The file
// it returns, if any, is in place, even when that last fsync failed.
func rewrite(path string, records []record) (*os.File, int64, error) {
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return nil, 0, err
	}
	var b []byte
	for _, r := range records {
		b = appendLine(b, r)
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

// add queues records. then, if not nil, is called once they are written, and synced when durable is set.
func (j *journal) add(durable bool, then func(error), records ...record) {
	var b []byte
	for _, r := range records {
		b = appendLine(b, r)
	}
	j.mu.RLock()
	defer j.mu.RUnlock()
	if !j.closed {
		j.queue <- entry{b, durable, then}
	} else if then != nil {
		then(os.ErrClosed)
	}
}

// close returns when all that was queued is on disk. What is added later is refused.
func (j *journal) close() {
	j.mu.Lock()
	j.closed = true
	close(j.queue)
	j.mu.Unlock()
	<-j.done
}

func (j *journal) run(f *os.File, size int64, live func() []record) {
	defer close(j.done)
	limit := max(compactSize, 4*size)
	var batch []entry
	var b []byte
	for first := range j.queue {
		batch, b = append(batch[:0], first), append(b[:0], first.lines...)
		durable := first.durable
		for n := len(j.queue); n > 0; n-- { // nobody else takes from it: n entries are there
			e := <-j.queue
			batch, b, durable = append(batch, e), append(b, e.lines...), durable || e.durable
		}
		_, err := f.Write(b)
		if err == nil && durable {
			err = f.Sync()
		}
		if err == nil {
			size += int64(len(b))
		} else {
			f.Truncate(size) // leave no half line for the next one to be glued to
		}
		for _, e := range batch {
			if e.then != nil {
				e.then(err)
			}
		}
		if size > limit {
			// Failing leaves the old file in use; it is tried again when the file has doubled.
			limit = 2 * size
			if g, n, _ := rewrite(j.path, live()); g != nil {
				f.Close()
				f, size, limit = g, n, max(compactSize, 4*n)
			}
		}
	}
	f.Sync()
	f.Close()
}
