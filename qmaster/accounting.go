package qmaster

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/events"
	accountingfile "github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/grid"
)

// accounting writes the accounting file, accounting(5): one line per record,
// its last field the Seq of the list that told it.
type accounting struct {
	trail
	buf []byte // what is not written

	place       // of the last line
	stood place // of the last line that is written
}

// place is how far a file goes.
type place struct {
	seq  uint64 // of the last line
	have int    // lines with that Seq
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
func openAccounting(path string, note hclog.Logger) (*accounting, error) {
	a := &accounting{trail: trail{path: path, note: note}}
	keep := func(lines []byte) (int, bool) { return len(lines), a.count(lines) }
	err := a.open(keep)
	if err == nil && a.have == 0 {
		if err = a.recall(keep); err == nil && a.have > 0 {
			_, err = a.file.WriteString(a.place.head())
		}
	}
	a.stood = a.place
	if err == nil {
		err = a.name()
	}
	if err != nil {
		return nil, fmt.Errorf("accounting: %w", err)
	}
	return a, nil
}

func (p *place) head() string { return fmt.Sprintf(continued, p.have, p.seq) }

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

// flush writes what is not written, or has it wait.
func (a *accounting) flush() error {
	if len(a.buf) == 0 && a.trouble == nil {
		return nil
	}
	if !a.put(a.buf, a.stood.head) {
		if err := a.late(a.buf); err != nil {
			return fmt.Errorf("accounting: %w", err)
		}
		return nil
	}
	a.buf, a.stood = a.buf[:0], a.place
	a.look(a.stood.head)
	return nil
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
