package qstat

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
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
	cell  func(*table, []byte, *row) []byte
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

// times says whether rows show when a task started or its job was submitted.
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
func (t *table) line(r *row) {
	for i := range t.columns {
		c := &t.columns[i]
		if r.continued && !c.every {
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
	if r.ids == nil || r.continued && !t.taskInfo {
		t.buf = append(t.buf, "       "...)
	} else {
		t.buf = appendRanges(t.buf, r.ids)
	}
	if t.taskInfo {
		t.inSlot(r)
	}
	t.text("\n")
}

// inSlot prints what runs in a slot of a job that started tasks with
// qrsh -inherit: its script in the first, in others one of those tasks.
func (t *table) inSlot(r *row) {
	id, letters, used := "", r.letters, grid.Usage{}
	switch {
	case r.petask != nil:
		id, used = r.petask.ID, r.petask.Usage
		if r.petask.Status == grid.Transfering {
			letters = "t"
		}
	case r.master == "MASTER" && r.startedTasks(r.task.ID):
		used = r.task.Usage
	default:
		return
	}
	t.buf = fmt.Appendf(t.buf, "   %-12s %-5s %s %s %s ", id, letters, cpuTime(used.CPU),
		appendFive(nil, used.Mem), appendFive(nil, used.IO))
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

func (t *table) id(dst []byte, r *row) []byte { return strconv.AppendUint(dst, uint64(r.id), 10) }

func (t *table) prior(dst []byte, r *row) []byte { return appendFive(dst, r.priorityOf()) }

// priorityOf is a started task's own, else that of what waits of its job.
func (r *row) priorityOf() float64 {
	if r.keeps() {
		return r.task.Priority
	}
	return r.priority
}

func (r *row) started() bool { return r.task != nil && r.task.Started() }

// keeps says whether a row's task has priority and tickets of its own: it has
// started, or nothing was found since it ran.
func (r *row) keeps() bool {
	return r.started() || r.task != nil && r.found == nil && !r.reckoned && !r.full
}

// looked is what the scheduler has found about a row's job; all 0 before it
// has looked, and of what it does not look at.
func (r *row) looked() *grid.Priority {
	if r.full && !r.started() {
		return new(grid.Priority)
	}
	return cmp.Or(r.ran, r.found, new(grid.Priority))
}

// urgency is looked without tickets: as many tasks run as may, or all are in
// error state, and the scheduler has forgotten the job's urgency and priority.
func (r *row) urgency() *grid.Priority {
	if r.full || r.allFailed() {
		return new(grid.Priority)
	}
	return r.looked()
}

func (t *table) nurg(dst []byte, r *row) []byte {
	return appendFive(dst, float64(r.urgency().NUrgency))
}
func (t *table) nppri(dst []byte, r *row) []byte { return appendFive(dst, float64(r.urgency().NPOSIX)) }
func (t *table) urg(dst []byte, r *row) []byte   { return appendCount(dst, float64(r.urgency().Urgency)) }
func (t *table) rrcontr(dst []byte, r *row) []byte {
	return appendCount(dst, float64(r.urgency().RRContr))
}
func (t *table) wtcontr(dst []byte, r *row) []byte {
	return appendCount(dst, float64(r.urgency().WTContr))
}
func (t *table) dlcontr(dst []byte, r *row) []byte {
	return appendCount(dst, float64(r.urgency().DLContr))
}

func (t *table) ppri(dst []byte, r *row) []byte {
	return strconv.AppendInt(dst, int64(r.job.Priority), 10)
}
func (t *table) name(dst []byte, r *row) []byte       { return cut(dst, r.name, 10) }
func (t *table) user(dst []byte, r *row) []byte       { return cut(dst, r.owner, 12) }
func (t *table) project(dst []byte, r *row) []byte    { return cut(dst, orNA(r.job.Project), 16) }
func (t *table) department(dst []byte, r *row) []byte { return cut(dst, orNA(r.job.Department), 10) }
func (t *table) state(dst []byte, r *row) []byte      { return cut(dst, r.letters, 5) }
func (t *table) at(dst []byte, r *row) []byte         { return t.clock.append(dst, r.at) }
func (t *table) queue(dst []byte, r *row) []byte      { return cut(dst, r.queue, t.queueWidth) }
func (t *table) master(dst []byte, r *row) []byte     { return append(dst, r.master...) }

func (t *table) slots(dst []byte, r *row) []byte {
	return strconv.AppendUint(dst, uint64(r.slots), 10)
}

func (t *table) deadline(dst []byte, r *row) []byte {
	if r.job.Deadline == 0 {
		return dst
	}
	return t.clock.append(dst, r.job.Deadline)
}

// usage is a running task's usage; ok is false for a pending one, and for the
// slaves of a parallel job.
func (r *row) usage() (u grid.Usage, known, shown bool) {
	if r.queue == "" {
		return u, false, false
	}
	if r.petask != nil {
		return r.petask.Usage, true, true
	}
	if r.master == "SLAVE" || r.task.Usage == (grid.Usage{}) {
		return u, false, true
	}
	return r.task.Usage, true, true
}

func (t *table) cpu(dst []byte, r *row) []byte {
	u, known, shown := r.usage()
	switch {
	case !shown:
		return dst
	case !known:
		return append(dst, "NA"...)
	}
	s := int64(u.CPU)
	dst = append(strconv.AppendInt(dst, s/86400, 10), ':')
	dst = append(two(dst, int(s/3600%24)), ':')
	dst = append(two(dst, int(s/60%60)), ':')
	return two(dst, int(s%60))
}

func (t *table) amount(dst []byte, r *row, v float64) []byte {
	_, known, shown := r.usage()
	switch {
	case !shown:
		return dst
	case !known:
		return append(dst, "NA"...)
	}
	return appendFive(dst, v)
}

func (t *table) mem(dst []byte, r *row) []byte {
	u, _, _ := r.usage()
	return t.amount(dst, r, u.Mem)
}

func (t *table) io(dst []byte, r *row) []byte {
	u, _, _ := r.usage()
	return t.amount(dst, r, u.IO)
}

// allFailed says whether all that is left of a job is tasks in error state.
func (e *entry) allFailed() bool {
	if e.plain || e.parts != nil && len(e.parts.pending) > 0 || len(e.tasks) == 0 {
		return false
	}
	return !slices.ContainsFunc(e.tasks, func(t *grid.JATask) bool { return t.Started() || t.State&grid.StateError == 0 })
}

// tickets are those of a started task, or of its job's next one; NaN where only
// the scheduler knows them.
type tickets struct{ all, override, functional, share, part, normalised float64 }

func (r *row) tickets() tickets {
	if r.finished {
		return unknown
	}
	if t := r.task; r.keeps() {
		return tickets{t.Tickets, t.OTickets, t.FTickets, t.STickets, t.Share, t.NTickets}
	}
	p := r.looked()
	return tickets{float64(p.Tickets), float64(p.OTickets), float64(p.FTickets), float64(p.STickets), float64(p.Share), float64(p.NTickets)}
}

func appendCount(dst []byte, v float64) []byte {
	if math.IsNaN(v) {
		return append(dst, "NA"...)
	}
	return strconv.AppendInt(dst, int64(math.Round(v)), 10)
}

// appendTickets leaves out what is less than a ticket, but for what a sum may
// have come out short by in reckoning.
func appendTickets(dst []byte, v float64) []byte { return appendCount(dst, math.Floor(v+1e-3)) }

func (t *table) alltickets(dst []byte, r *row) []byte { return appendTickets(dst, r.tickets().all) }
func (t *table) otickets(dst []byte, r *row) []byte   { return appendTickets(dst, r.tickets().override) }
func (t *table) ftickets(dst []byte, r *row) []byte {
	return appendTickets(dst, r.tickets().functional)
}
func (t *table) stickets(dst []byte, r *row) []byte { return appendTickets(dst, r.tickets().share) }
func (t *table) ntckts(dst []byte, r *row) []byte   { return appendFive(dst, r.tickets().normalised) }

func (t *table) override(dst []byte, r *row) []byte {
	if r.finished {
		return append(dst, "NA"...)
	}
	return strconv.AppendUint(dst, uint64(r.job.OverrideTickets), 10)
}

func (t *table) share(dst []byte, r *row) []byte {
	part := r.tickets().part
	switch {
	case r.finished:
		return append(dst, "   NA"...)
	case math.IsNaN(part):
		return append(dst, "NA"...)
	}
	return strconv.AppendFloat(dst, part, 'f', 2, 64)
}

func orNA(s string) string {
	if s == "" {
		return "NA"
	}
	return s
}

// appendFive prints a number with five digits.
func appendFive(dst []byte, v float64) []byte {
	switch {
	case v == 0:
		return append(dst, "0.00000"...)
	case math.IsNaN(v):
		return append(dst, "NA"...)
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

// clock prints times, remembering the last minute: neighbours in a listing
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
