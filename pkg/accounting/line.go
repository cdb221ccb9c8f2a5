package accounting

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Header is how the file begins, as 8.1.9 writes it: programs read the version
// of the format from it.
const Header = "# Version: 8.1.9\n# \n# DO NOT MODIFY THIS FILE MANUALLY!\n# \n"

// AppendLine appends the record as one line, with its newline.
func AppendLine(dst []byte, a *grid.Accounting) []byte {
	return append(Append(dst, a), '\n')
}

// StillRuns is the exit status in an intermediate record, -1.
const StillRuns = math.MaxUint32

// Append appends the fields of the record, without a newline.
func Append(dst []byte, a *grid.Accounting) []byte {
	w := writer{dst: dst}
	w.name(a.Queue)
	w.name(a.Host)
	w.name(a.Group)
	w.name(a.Owner)
	w.name(a.Name)
	w.number(int64(a.Job))
	w.name(a.Account)
	w.number(int64(a.Priority))
	w.number(a.Submit.Unix())
	w.number(a.Start.Unix())
	w.number(a.End.Unix())
	w.number(int64(a.Failed))
	w.number(int64(int32(a.ExitStatus))) // -1: it still runs
	u := &a.Usage
	w.number(int64(u.WallSeconds))
	w.real(u.UserSeconds)
	w.real(u.SystemSeconds)
	w.real(u.MaxRSS)
	w.number(0) // ru_ixrss
	w.number(0) // ru_ismrss
	w.number(0) // ru_idrss
	w.number(0) // ru_isrss
	w.number(u.MinFaults)
	w.number(u.MajFaults)
	w.number(0) // ru_nswap
	w.real(float64(u.InBlocks))
	w.number(u.OutBlocks)
	w.number(0) // ru_msgsnd
	w.number(0) // ru_msgrcv
	w.number(0) // ru_nsignals
	w.number(u.VolSwitches)
	w.number(u.InvolSwitches)
	w.name(a.Project)
	w.name(a.Department)
	w.name(a.PE)
	w.number(int64(a.Slots))
	if a.Array {
		w.number(int64(a.Task))
	} else {
		w.number(0)
	}
	w.real(u.CPU)
	w.real(u.Mem)
	w.real(u.IO)
	w.name(a.Category)
	w.real(u.IOWait)
	w.name(a.PETask)
	w.real(u.MaxVMem)
	w.number(int64(a.AR))
	w.number(a.ARSubmit.Unix())
	if len(a.Maps) > 0 {
		w.name(resourceMap + hideColons.Replace(grid.MapText(a.Maps)))
	}
	if a.Failed != 0 && a.FailedText != "" {
		return append(w.dst, reason+strings.ReplaceAll(a.FailedText, "\n", " ")...)
	}
	return w.dst[:len(w.dst)-1]
}

// Fields beyond those of the format, which have their names: other programs have others there. The reason of a failure
// is the last one and may have colons.
const (
	resourceMap = "resource_map="
	reason      = "failed_text="
)

// hideColons and showColons write the colons of ids, such as PCI addresses, so that they do not end
// a field.
var (
	hideColons = strings.NewReplacer("%", "%25", ":", "%3A")
	showColons = strings.NewReplacer("%25", "%", "%3A", ":")
)

// writer appends fields, each with the colon after it.
type writer struct{ dst []byte }

// none stands for an empty text, substitute for a colon within a text.
const (
	none       = "NONE"
	substitute = '_'
)

// name appends a text without the characters that would end the field or the line.
func (w *writer) name(s string) {
	if s == "" {
		s = none
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch c {
		case ':':
			w.dst = append(w.dst, substitute)
		case '\n':
			w.dst = append(w.dst, ' ')
		default:
			w.dst = append(w.dst, c)
		}
	}
	w.dst = append(w.dst, ':')
}

func (w *writer) number(n int64) {
	w.dst = append(strconv.AppendInt(w.dst, n, 10), ':')
}

func (w *writer) real(f float64) {
	w.dst = append(strconv.AppendFloat(w.dst, f, 'f', 6, 64), ':')
}

// Fields is how many fields every record has. Those of tasks with instances of resource maps have one
// more, which names them.
const Fields = 45

// ErrComment means that a line holds no record.
var ErrComment = errors.New("comment")

// Each calls f with the records of a file, and bad, unless nil, with the number of
// each line that holds none.
func Each(file io.Reader, f func(*grid.Accounting), bad func(line int)) error {
	return EachMeasured(file, func(a *grid.Accounting, _ *Usage) { f(a) }, bad)
}

// EachMeasured is Each, with what a line of accounting.jsonl says that the execution daemon has measured: other
// programs than Quill measure the time on the clock and the memory apart from getrusage(2). It is nil for other lines.
func EachMeasured(file io.Reader, f func(*grid.Accounting, *Usage), bad func(line int)) error {
	lines := bufio.NewReaderSize(file, 1<<16)
	for n := 1; ; n++ {
		line, err := lines.ReadString('\n')
		if line != "" {
			a, measured, no := parseLine(line)
			switch {
			case no == nil:
				f(a, measured)
			case bad != nil && !errors.Is(no, ErrComment):
				bad(n)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// ParseLine reads a line of either format. Of what is beyond the fields of the format the reason of a failure is read.
// Comment lines and empty ones are ErrComment.
func ParseLine(line string) (*grid.Accounting, error) {
	a, _, err := parseLine(line)
	return a, err
}

func parseLine(line string) (*grid.Accounting, *Usage, error) {
	line = strings.TrimSuffix(line, "\n")
	switch {
	case line == "" || line[0] == '#':
		return nil, nil, ErrComment
	case line[0] == '{':
		return parseJSON(line)
	}
	a, err := parseFields(line)
	return a, nil, err
}

// parseFields reads a line of fields with colons between them.
func parseFields(line string) (a *grid.Accounting, err error) {
	r := reader{rest: line, more: true}
	a = &grid.Accounting{Attempt: 1}
	u := &a.Usage
	a.Queue = r.text()
	a.Host = r.text()
	a.Group = r.text()
	a.Owner = r.text()
	a.Name = r.text()
	a.Job = uint32(r.number())
	a.Account = r.text()
	a.Priority = int32(r.number())
	a.Submit = r.time()
	a.Start = r.time()
	a.End = r.time()
	a.Failed = uint32(r.number())
	a.ExitStatus = uint32(r.number())
	u.WallSeconds = r.real()
	u.UserSeconds = r.real()
	u.SystemSeconds = r.real()
	u.MaxRSS = r.real()
	r.skip(4) // ru_ixrss ru_ismrss ru_idrss ru_isrss
	u.MinFaults = r.number()
	u.MajFaults = r.number()
	r.skip(1) // ru_nswap
	u.InBlocks = r.number()
	u.OutBlocks = r.number()
	r.skip(3) // ru_msgsnd ru_msgrcv ru_nsignals
	u.VolSwitches = r.number()
	u.InvolSwitches = r.number()
	a.Project = r.optional()
	a.Department = r.optional()
	a.PE = r.optional()
	a.Slots = uint32(r.number())
	a.Task = uint32(r.number())
	a.Array = a.Task != 0
	u.CPU = r.real()
	u.Mem = r.real()
	u.IO = r.real()
	a.Category = r.optional()
	u.IOWait = r.real()
	a.PETask = r.optional()
	u.MaxVMem = r.real()
	a.AR = uint32(r.number())
	a.ARSubmit = r.time()
	for r.more {
		if why, is := strings.CutPrefix(r.rest, reason); is {
			a.FailedText = why
			break
		}
		if maps, is := strings.CutPrefix(r.text(), resourceMap); is {
			a.Maps, _ = grid.ParseMapText(showColons.Replace(maps))
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	if !a.Array {
		a.Task = 1
	}
	return a, nil
}

// reader takes fields from the front of a line.
type reader struct {
	rest  string
	more  bool
	field int
	err   error
}

func (r *reader) text() string {
	if !r.more && r.err == nil {
		r.err = fmt.Errorf("accounting line has %d fields instead of %d", r.field, Fields)
	}
	r.field++
	var s string
	s, r.rest, r.more = strings.Cut(r.rest, ":")
	return s
}

// optional is a text that may be none.
func (r *reader) optional() string {
	if s := r.text(); s != none {
		return s
	}
	return ""
}

func (r *reader) real() float64 {
	s := r.text()
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("field %d of an accounting line: %q is no number", r.field, s)
	}
	return f
}

// number reads a whole number; some writers print it with decimals.
func (r *reader) number() int64 { return int64(r.real()) }

func (r *reader) time() grid.Time { return grid.Time(r.number() * 1000) }

func (r *reader) skip(n int) {
	for range n {
		r.text()
	}
}
