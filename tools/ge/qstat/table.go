package qstat

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
)

// table prints rows as lines of text. Lines pile up in buf.
type table struct {
	w          io.Writer
	buf        []byte
	columns    []column
	queueWidth int  // how much of a queue's name is shown
	rule       int  // how long the line below the heading is
	inQueue    bool // rows stand below their queue instance
	taskInfo   bool // -t: what runs in a slot stands at the end
	clock      clock
	err        error
}

// column is one column of a table. Cells are cut by themselves; they are
// filled up to width on the right, on the left when right is set.
type column struct {
	head  string
	width int
	right bool
	every bool // printed for further slots of a task too (-g t)
	cell  func(*table, []byte, *view.Job) []byte
}

// columnsFor is the table that the options ask for.
func columnsFor(o *options, inQueue bool) (out []column) {
	times := o.times()
	for _, c := range []struct {
		when bool
		column
	}{
		{true, column{"job-ID", 7, true, false, (*table).id}},
		{true, column{"prior", 7, false, false, (*table).prior}},
		{o.urg || o.pri, column{"nurg", 7, false, false, (*table).nurg}},
		{o.pri, column{"npprior", 7, false, false, (*table).nppri}},
		{o.pri || o.ext, column{"ntckts", 7, false, false, (*table).ntckts}},
		{o.urg, column{"urg", 8, true, false, (*table).urg}},
		{o.urg, column{"rrcontr", 8, true, false, (*table).rrcontr}},
		{o.urg, column{"wtcontr", 8, true, false, (*table).wtcontr}},
		{o.urg, column{"dlcontr", 8, true, false, (*table).dlcontr}},
		{o.pri, column{" ppri", 5, true, false, (*table).ppri}},
		{true, column{"name", 10, false, false, (*table).name}},
		{true, column{"user", 12, false, false, (*table).user}},
		{o.ext, column{"project", 16, false, false, (*table).project}},
		{o.ext, column{"department", 10, false, false, (*table).department}},
		{true, column{"state", 5, false, false, (*table).state}},
		{times, column{"submit/start at", 19, false, false, (*table).at}},
		{o.urg, column{" deadline", 19, false, false, (*table).deadline}},
		{o.ext, column{"cpu", 10, false, true, (*table).cpu}},
		{o.ext, column{"mem", 7, false, true, (*table).mem}},
		{o.ext, column{"io", 7, false, true, (*table).io}},
		{o.ext, column{"tckts", 5, true, true, (*table).alltickets}},
		{o.ext, column{"ovrts", 5, true, true, (*table).override}},
		{o.ext, column{"otckt", 5, true, true, (*table).otickets}},
		{o.ext, column{"ftckt", 5, true, true, (*table).ftickets}},
		{o.ext, column{"stckt", 5, true, true, (*table).stickets}},
		{o.ext, column{"share", 5, false, true, (*table).share}},
		{!inQueue, column{"queue", o.queueWidth, false, true, (*table).queue}},
		{!o.perSlot, column{"slots", 5, true, true, (*table).slots}},
		{o.perSlot, column{"master", 6, false, true, (*table).master}},
	} {
		if c.when {
			out = append(out, c.column)
		}
	}
	return out
}

// times reports whether rows show when a task started or its job was submitted.
func (o *options) times() bool { return !o.ext || o.urg || o.pri || o.taskInfo }

// ruleFor is how long Grid Engine draws the line below the heading: what each
// option adds, columns that several of them show counted again.
func ruleFor(o *options) int {
	n := 113 + o.queueWidth - queueWidth
	for _, more := range []struct {
		on   bool
		size int
	}{{o.perSlot, 1}, {o.taskInfo, 53}, {o.ext, 79}, {o.urg, 64}, {o.pri, 35}} {
		if more.on {
			n += more.size
		}
	}
	return n
}

// heading prints the names of the columns and a line of dashes.
func (t *table) heading() {
	for _, c := range t.columns {
		t.buf = pad(append(t.buf, c.head...), len(c.head), c.width+1)
	}
	t.buf = append(t.buf, "ja-task-ID "...)
	if t.taskInfo {
		t.buf = append(t.buf, "task-ID state cpu        mem     io      stat failed "...)
	}
	t.buf = append(t.buf, '\n')
	t.buf = append(t.buf, strings.Repeat("-", t.rule)...)
	t.buf = append(t.buf, '\n')
}

// line prints one row.
func (t *table) line(r *view.Job) {
	for i := range t.columns {
		c := &t.columns[i]
		if r.Continued && !c.every {
			t.buf = pad(t.buf, 0, c.width+1)
			continue
		}
		start := len(t.buf)
		t.buf = c.cell(t, t.buf, r)
		n := len(t.buf) - start
		if c.right && n < c.width {
			t.buf = pad(t.buf, n, c.width)
			copy(t.buf[start+c.width-n:], t.buf[start:start+n])
			for j := start; j < start+c.width-n; j++ {
				t.buf[j] = ' '
			}
			n = c.width
		}
		t.buf = pad(t.buf, n, c.width+1)
	}
	if r.Tasks == nil || r.Continued && !t.taskInfo {
		t.buf = append(t.buf, "       "...)
	} else {
		t.buf = appendRanges(t.buf, r.Tasks)
	}
	if r.PETask != nil {
		t.inSlot(r.PETask)
	}
	t.text("\n")
}

// inSlot prints what runs in a slot.
func (t *table) inSlot(p *view.PETask) {
	t.buf = fmt.Appendf(t.buf, "   %-12s %-5s %s %s %s ", p.ID, p.State, cpuTime(p.Usage.CPU),
		appendFive(nil, p.Usage.Mem), appendFive(nil, p.Usage.IO))
}

// text prints text that is no row.
func (t *table) text(s string) {
	t.buf = append(t.buf, s...)
	if len(t.buf) > 32<<10 {
		t.flush()
	}
}

func (t *table) flush() {
	if _, err := t.w.Write(t.buf); err != nil && t.err == nil {
		t.err = err
	}
	t.buf = t.buf[:0]
}

// pad fills a cell of n characters up to width.
func pad(dst []byte, n, width int) []byte {
	for ; n < width; n++ {
		dst = append(dst, ' ')
	}
	return dst
}

func cut(dst []byte, s string, width int) []byte { return append(dst, s[:min(len(s), width)]...) }

func (t *table) id(dst []byte, r *view.Job) []byte { return strconv.AppendUint(dst, uint64(r.ID), 10) }

func (t *table) prior(dst []byte, r *view.Job) []byte { return appendFive(dst, r.Priority) }

func (t *table) nurg(dst []byte, r *view.Job) []byte    { return appendFive(dst, r.Worth.NUrgency) }
func (t *table) nppri(dst []byte, r *view.Job) []byte   { return appendFive(dst, r.Worth.NPOSIX) }
func (t *table) urg(dst []byte, r *view.Job) []byte     { return appendCount(dst, r.Worth.Urgency) }
func (t *table) rrcontr(dst []byte, r *view.Job) []byte { return appendCount(dst, r.Worth.RRContr) }
func (t *table) wtcontr(dst []byte, r *view.Job) []byte { return appendCount(dst, r.Worth.WTContr) }
func (t *table) dlcontr(dst []byte, r *view.Job) []byte { return appendCount(dst, r.Worth.DLContr) }

func (t *table) ppri(dst []byte, r *view.Job) []byte {
	return strconv.AppendInt(dst, int64(r.Worth.POSIXPriority), 10)
}
func (t *table) name(dst []byte, r *view.Job) []byte { return cut(dst, r.Name, 10) }
func (t *table) user(dst []byte, r *view.Job) []byte { return cut(dst, r.Owner, 12) }
func (t *table) project(dst []byte, r *view.Job) []byte {
	return cut(dst, cmp.Or(r.Policy.Project, "NA"), 16)
}
func (t *table) department(dst []byte, r *view.Job) []byte {
	return cut(dst, cmp.Or(r.Policy.Department, "NA"), 10)
}
func (t *table) state(dst []byte, r *view.Job) []byte  { return cut(dst, r.State, 5) }
func (t *table) at(dst []byte, r *view.Job) []byte     { return t.clock.append(dst, r.At) }
func (t *table) queue(dst []byte, r *view.Job) []byte  { return cut(dst, r.Queue, t.queueWidth) }
func (t *table) master(dst []byte, r *view.Job) []byte { return append(dst, r.Role...) }

func (t *table) slots(dst []byte, r *view.Job) []byte {
	return strconv.AppendUint(dst, uint64(r.Slots), 10)
}

func (t *table) deadline(dst []byte, r *view.Job) []byte {
	if r.Worth.Deadline == 0 {
		return dst
	}
	return t.clock.append(dst, r.Worth.Deadline)
}

// used prints something of a started task's usage, where that is known.
func used(dst []byte, r *view.Job, print func([]byte, *grid.Usage) []byte) []byte {
	switch {
	case r.Queue == "":
		return dst
	case r.Policy.Usage == nil:
		return append(dst, "NA"...)
	}
	return print(dst, r.Policy.Usage)
}

func (t *table) cpu(dst []byte, r *view.Job) []byte {
	return used(dst, r, func(dst []byte, u *grid.Usage) []byte {
		s := int64(u.CPU)
		dst = append(strconv.AppendInt(dst, s/86400, 10), ':')
		dst = append(two(dst, int(s/3600%24)), ':')
		dst = append(two(dst, int(s/60%60)), ':')
		return two(dst, int(s%60))
	})
}

func (t *table) mem(dst []byte, r *view.Job) []byte {
	return used(dst, r, func(dst []byte, u *grid.Usage) []byte { return appendFive(dst, u.Mem) })
}

func (t *table) io(dst []byte, r *view.Job) []byte {
	return used(dst, r, func(dst []byte, u *grid.Usage) []byte { return appendFive(dst, u.IO) })
}

func appendCount(dst []byte, v float64) []byte {
	return strconv.AppendInt(dst, int64(math.Round(v)), 10)
}

// tickets prints some tickets, where they are known. It leaves out what is less
// than a ticket, but for what a sum may have come out short by in reckoning.
func tickets(dst []byte, r *view.Job, of func(*view.JobTickets) float64) []byte {
	if r.Policy.Tickets == nil {
		return append(dst, "NA"...)
	}
	return appendCount(dst, math.Floor(of(r.Policy.Tickets)+1e-3))
}

func (t *table) alltickets(dst []byte, r *view.Job) []byte {
	return tickets(dst, r, func(t *view.JobTickets) float64 { return t.All })
}
func (t *table) otickets(dst []byte, r *view.Job) []byte {
	return tickets(dst, r, func(t *view.JobTickets) float64 { return t.Override })
}
func (t *table) ftickets(dst []byte, r *view.Job) []byte {
	return tickets(dst, r, func(t *view.JobTickets) float64 { return t.Functional })
}
func (t *table) stickets(dst []byte, r *view.Job) []byte {
	return tickets(dst, r, func(t *view.JobTickets) float64 { return t.Share })
}

func (t *table) ntckts(dst []byte, r *view.Job) []byte {
	n := r.NTickets()
	if n == nil {
		return append(dst, "NA"...)
	}
	return appendFive(dst, *n)
}

func (t *table) override(dst []byte, r *view.Job) []byte {
	if r.Section == view.JobFinished {
		return append(dst, "NA"...)
	}
	return strconv.AppendUint(dst, uint64(r.Policy.OverrideTickets), 10)
}

func (t *table) share(dst []byte, r *view.Job) []byte {
	switch {
	case r.Section == view.JobFinished:
		return append(dst, "   NA"...)
	case r.Policy.Tickets == nil:
		return append(dst, "NA"...)
	}
	return strconv.AppendFloat(dst, r.Policy.Tickets.Part, 'f', 2, 64)
}

// appendFive prints a number with five digits.
func appendFive(dst []byte, v float64) []byte {
	if v == 0 {
		return append(dst, "0.00000"...)
	}
	return strconv.AppendFloat(dst, v, 'f', 5, 64)
}

func two(dst []byte, n int) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }

// appendRanges prints task ids as qstat does: 7, 1,2 for two, 1-9:2.
func appendRanges(dst []byte, rs grid.Ranges) []byte {
	for i, r := range rs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, uint64(r.First), 10)
		switch step := max(r.Step, 1); r.Count() {
		case 1:
		case 2:
			dst = strconv.AppendUint(append(dst, ','), uint64(r.First+step), 10)
		default:
			dst = strconv.AppendUint(append(dst, '-'), uint64(r.First+(r.Count()-1)*step), 10)
			dst = strconv.AppendUint(append(dst, ':'), uint64(step), 10)
		}
	}
	return dst
}

// clock prints times and keeps the last minute: neighbours in a listing
// are often of the same.
type clock struct {
	minute int64
	text   [17]byte // MM/DD/YYYY HH:MM:
}

func (c *clock) append(dst []byte, at grid.Time) []byte {
	s := at.Unix()
	m := s / 60
	if m != c.minute || c.minute == 0 {
		c.minute = m
		time.Unix(m*60, 0).AppendFormat(c.text[:0], "01/02/2006 15:04:")
	}
	return two(append(dst, c.text[:]...), int(s-m*60))
}
