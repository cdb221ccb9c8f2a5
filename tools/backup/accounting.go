package backup

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
)

// The accounting files are copied once. A restoration adds the lines of the lists that a copy lacks.

// uncopied are the files in common that a backup does not copy each time: the accounting files, and those that are made
// by who runs qmaster, or that other programs have read.
func uncopied(c cell.Cell) []string {
	return []string{filepath.Base(c.Accounting()), filepath.Base(c.AccountingJSON()), filepath.Base(c.Reporting()),
		"schedule", "schedd_runlog"}
}

// copyAccounting copies the accounting files as far as they go now.
func copyAccounting(to string, c cell.Cell) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, path := range []string{c.Accounting(), c.AccountingJSON()} {
		if err := copyWhole(filepath.Join(to, filepath.Base(path)), path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// copyWhole copies a file, however large, as it is now.
func copyWhole(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(in, info.Size()))
	return errors.Join(err, out.Sync(), out.Close())
}

// records gathers the accounting lines of lists, by the file that the configuration names for them.
type records struct {
	files        grid.Reporting
	colons, json []byte
}

// configure takes the configuration of a list or state.
func (r *records) configure(c *grid.Conf) {
	if c != nil {
		r.files, _ = c.Reporting()
	}
}

func (r *records) add(l events.List) {
	for _, e := range l.Events {
		switch o := e.Object.(type) {
		case *grid.Conf:
			if o.Host == grid.GlobalConf {
				r.configure(o)
			}
		case *grid.Accounting:
			switch {
			case !r.files.Accounting:
			case r.files.OldFormat:
				r.colons = accounting.Colons.Append(r.colons, o)
			default:
				r.json = accounting.JSON.Append(r.json, o)
			}
		}
	}
}

// complete adds to the accounting files of a cell the lines that they lack.
func (r *records) complete(c cell.Cell) error {
	return errors.Join(addMissing(c.Accounting(), accounting.Header, r.colons), addMissing(c.AccountingJSON(), "", r.json))
}

// addMissing adds lines to a file, except those that are near its end already.
func addMissing(path, header string, lines []byte) error {
	if len(lines) == 0 {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	from := max(0, size-2*int64(len(lines))-1<<20)
	tail := make([]byte, size-from)
	if _, err := f.ReadAt(tail, from); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	whole := bytes.LastIndexByte(tail, '\n') + 1 // a line that was copied in part is written anew
	there := map[string]bool{}
	for line := range bytes.Lines(tail[:whole]) {
		there[string(line)] = true
	}
	var out []byte
	if from+int64(whole) == 0 {
		out = append(out, header...)
	}
	for line := range bytes.Lines(lines) {
		if !there[string(line)] {
			out = append(out, line...)
		}
	}
	if err := f.Truncate(from + int64(whole)); err != nil {
		return err
	}
	if _, err := f.WriteAt(out, from+int64(whole)); err != nil {
		return err
	}
	return f.Sync()
}

// recordsOf are the accounting lines of the lists of a log up to one.
func recordsOf(l *history.Log, to uint64) (*records, error) {
	first, _ := l.Span()
	begin, err := l.Full(first.Seq)
	if err != nil {
		return nil, err
	}
	r := &records{}
	r.configure(&grid.Conf{})
	r.configure(begin.Conf(grid.GlobalConf))
	if to == first.Seq {
		return r, nil
	}
	for list, err := range l.Lists(first.Seq + 1) {
		if err != nil {
			return nil, err
		}
		if r.add(list); list.Seq >= to { // what follows may be damaged
			break
		}
	}
	return r, nil
}
