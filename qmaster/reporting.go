package qmaster

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	reportingfile "github.com/quill-grid/quill/pkg/reporting"
	"github.com/quill-grid/quill/pkg/state"
)

// reporting writes the reporting file, reporting(5), while reporting_params want
// it; else it has no file and is given nothing. After the lines of a flush
// stands how far the file goes: who reads the format passes over it.
type reporting struct {
	trail
	host string

	mu      sync.Mutex            // of what follows
	writer  *reportingfile.Writer // nil: no reporting
	buf     []byte
	seq     uint64        // of the last list that is in the file or in buf
	stood   uint64        // of the last list that is in the file
	every   time.Duration // how long lines may wait
	flushed time.Time
}

// upTo is the line that says how far the file goes.
const upTo = "# list "

// reportingBuffer is how many bytes may wait, however long they might.
const reportingBuffer = 1 << 20

func newReporting(path, host string, note hclog.Logger) *reporting {
	return &reporting{trail: trail{path: path, note: note}, host: host}
}

// begin begins with the lists after st, if its configuration wants that. st
// belongs to the file from then on.
func (r *reporting) begin(st *state.State) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	conf := paramsOf(st.Conf(grid.GlobalConf))
	if !conf.Reporting {
		return nil
	}
	r.writer, r.every = reportingfile.New(st, r.host), seconds(conf.FlushTime)
	if r.file != nil {
		return nil
	}
	r.seq, r.stood = st.Seq, st.Seq
	if err := r.open(); err != nil {
		return err
	}
	r.seq = r.stood
	return nil
}

// open opens the file and finds out how far it goes, or has one begin after stood.
func (r *reporting) open() error {
	from := r.stood
	r.stood = 0
	err := r.trail.open(r.goesUpTo)
	if err == nil && r.stood == 0 {
		err = r.recall(r.goesUpTo)
	}
	var at fs.FileInfo
	if err == nil {
		at, err = r.file.Stat()
	}
	if err == nil && at.Size() == 0 {
		r.stood = max(r.stood, from)
		err = whole(r.file, []byte(r.head()))
	}
	if err != nil {
		if r.file != nil {
			r.file.Close()
			r.file = nil
		}
		r.stood = from
		return err
	}
	return r.name()
}

// goesUpTo finds out how far the file goes; what stands after that is written
// again.
func (r *reporting) goesUpTo(lines []byte) (n int, found bool) {
	for end := len(lines); end > 0; {
		start := bytes.LastIndexByte(lines[:end-1], '\n') + 1
		if text, ok := bytes.CutPrefix(lines[start:end-1], []byte(upTo)); ok {
			if seq, err := strconv.ParseUint(string(text), 10, 64); err == nil {
				r.stood = seq
				return end, true
			}
		}
		end = start
	}
	return len(lines), false
}

func (r *reporting) head() string {
	return reportingfile.Header + upTo + strconv.FormatUint(r.stood, 10) + "\n"
}

// replay applies a list of the log to st, from which it has begun or begins now,
// and writes again what the file lacks.
func (r *reporting) replay(st *state.State, l events.List) error {
	if r.writer == nil {
		st.Apply(l)
		if confIn(l) == nil {
			return nil
		}
		return r.begin(st)
	}
	if r.seq < l.Seq {
		return r.add(l)
	}
	r.writer.Append(nil, l)
	return r.configure(l)
}

// add writes the next list.
func (r *reporting) add(l events.List) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.buf, r.seq = r.writer.Append(r.buf, l), l.Seq
	if err := r.configure(l); err != nil || len(r.buf) < reportingBuffer {
		return err
	}
	return r.flush()
}

// configure applies reporting_params if the list changes the global configuration.
func (r *reporting) configure(l events.List) error {
	c := confIn(l)
	if c == nil {
		return nil
	}
	conf := paramsOf(c)
	r.every = seconds(conf.FlushTime)
	if conf.Reporting {
		return nil
	}
	err := r.flush()
	if lost := r.trail.close(); lost != nil {
		r.note.Error("lines are missing in a file that is not wanted any more", "file", r.path, "reason", lost)
	}
	r.works()
	r.writer, r.file, r.buf = nil, nil, r.buf[:0]
	return err
}

// write writes what follows from outcomes, when it is time.
func (r *reporting) write(out []outcome) (err error) {
	for i := range out {
		switch {
		case out[i].state != nil:
			if begun := r.begin(out[i].state); begun != nil {
				r.fails(begun)
			}
		case out[i].list != nil:
			err = r.add(*out[i].list)
		}
		if err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trouble == nil && (len(r.buf) == 0 || time.Since(r.flushed) < r.every) {
		return nil
	}
	return r.flush()
}

// flush writes what is not written, or has it wait.
func (r *reporting) flush() error {
	r.flushed = time.Now()
	if len(r.buf) == 0 && r.trouble == nil || r.writer == nil {
		return nil
	}
	n := len(r.buf)
	r.buf = append(strconv.AppendUint(append(r.buf, upTo...), r.seq, 10), '\n')
	if !r.opened() || !r.put(r.buf, r.head) {
		r.buf = r.buf[:n]
		if err := r.late(r.buf); err != nil {
			return fmt.Errorf("reporting: %w", err)
		}
		return nil
	}
	r.buf, r.stood = r.buf[:0], r.seq
	r.checkMoved(r.head)
	return nil
}

// opened reports whether there is a file; if there could be none, it tries again.
func (r *reporting) opened() bool {
	if r.file != nil {
		return true
	}
	if time.Since(r.tried) < trailRetry {
		return false
	}
	if err := r.open(); err != nil {
		return r.fails(err)
	}
	return true
}

// sync returns when everything added is on disk. It may be called by another
// goroutine.
func (r *reporting) sync() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := errors.Join(r.flush(), r.trail.sync()); err != nil {
		return fmt.Errorf("reporting: %w", err)
	}
	return nil
}

func (r *reporting) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.flush(), r.trail.close())
}

// paramsOf is what a configuration says of the files; without one, what it says
// by default.
func paramsOf(c *grid.Conf) grid.Reporting {
	if c == nil {
		c = &grid.Conf{}
	}
	p, _ := c.Reporting()
	return p
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
