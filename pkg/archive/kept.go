package archive

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/frame"
)

// History can be read from its beginning, or from a state that is kept beside it: the
// file STREAM.state is an archive of the full state after that message.
const stateSuffix = ".state"

// A state is kept when so many times its bytes have been exported since the last one, both as they are unpacked: the
// way to any place in the history is short, and states take about a third of it.
const keptRatio = 2

// Keep puts the snapshot at p, up to which the log is going to be retired, beside
// the segments when it is worth its bytes, or they are more than bytes, so that
// what is before it has to be given up, see Trim.
func (s *Segments) Keep(p frame.Point, from *Snapshots, bytes int64) error {
	files, states, err := s.inventory()
	if err != nil || p.Stream <= 1 {
		return err
	}
	since := uint64(0)
	if len(states) > 0 {
		since = states[len(states)-1].first
	}
	name := snapName(p)
	size, err := from.size(name)
	if err != nil {
		return err
	}
	if total(files)+total(states) <= bytes {
		exported, err := s.unpacked(files, since)
		if err != nil || exported < keptRatio*size {
			return err
		}
	}
	err = s.dir.Put(stateName(p.Stream), func(out io.Writer) error {
		w, err := NewWriter(out)
		if err != nil {
			return err
		}
		_, err = from.Read(name, func(chunk []byte) error {
			w.State(p, chunk)
			return nil
		})
		return errors.Join(err, w.Close())
	})
	if err != nil {
		return fmt.Errorf("state of the history at list %d: %w", p.Seq, err)
	}
	return nil
}

// Newest is Snapshots.Newest of the states that are kept, and of those with which segments begin: that of a cell which
// was restored or imported does.
func (s *Segments) Newest(reject func(name string, why error), each func(chunk []byte) error) (frame.Point, error) {
	files, states, err := s.inventory()
	if err != nil {
		return frame.Point{}, err
	}
	for _, f := range slices.Backward(slices.Concat(files, states)) {
		begun := false
		at, err := s.readState(f.name, func(chunk []byte) error {
			begun = true
			return each(chunk)
		})
		switch {
		case err == nil && at != (frame.Point{}) || begun:
			return at, err
		case err != nil:
			reject(f.name, err)
		}
	}
	return frame.Point{}, nil
}

// readState reads the full state in a file, if all of it is good; the zero Point if there is none. Damage of a segment
// after its state is of no matter here.
func (s *Segments) readState(name string, each func(chunk []byte) error) (frame.Point, error) {
	f, err := os.Open(s.path(name))
	if err != nil {
		return frame.Point{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return frame.Point{}, err
	}
	a, err := Open(f, info.Size())
	if err == nil && strings.HasSuffix(name, stateSuffix) {
		err = a.Short
	}
	if err != nil {
		return frame.Point{}, err
	}
	first := slices.IndexFunc(a.Blocks, func(b Block) bool { return b.Part == PartState })
	if first < 0 {
		return frame.Point{}, nil
	}
	if at, err := a.EachState(first, func([]byte) error { return nil }); err != nil {
		return at, err
	}
	return a.EachState(first, each)
}

// Trim gives up history from its beginning, until it takes no more than so many
// bytes and nothing was written longer ago than age. It always ends at a kept state,
// the newest at the most: what is left can be read from its beginning on.
func (s *Segments) Trim(age time.Duration, bytes int64) error {
	files, states, err := s.inventory()
	if err != nil {
		return err
	}
	all := slices.Concat(states, files) // states first: one without what follows it would be a gap
	old := time.Now().Add(-age)
	for _, begin := range states {
		if total(all) <= bytes && begin.written.After(old) {
			return nil
		}
		var left []spooled
		for _, f := range all {
			if f.last >= begin.first {
				left = append(left, f)
				continue
			}
			if err := s.dir.Remove(f.name); err != nil {
				return fmt.Errorf("old history: %w", err)
			}
		}
		all = left
	}
	return nil
}

// spooled is a file of the history: messages of the stream, or the state after one.
type spooled struct {
	name        string
	first, last uint64
	bytes       int64
	written     time.Time
}

func total(list []spooled) (bytes int64) {
	for _, f := range list {
		bytes += f.bytes
	}
	return bytes
}

func stateName(stream uint64) string { return fmt.Sprintf("%020d%s", stream, stateSuffix) }

// inventory is what there is, in order.
func (s *Segments) inventory() (files, states []spooled, err error) {
	names, err := s.dir.Names()
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(names)
	for _, name := range names {
		f := spooled{name: name}
		segment := strings.HasSuffix(name, segSuffix)
		switch {
		case segment:
			_, err = fmt.Sscanf(name, "%d-%d"+segSuffix, &f.first, &f.last)
		case strings.HasSuffix(name, stateSuffix):
			_, err = fmt.Sscanf(name, "%d"+stateSuffix, &f.first)
			f.last = f.first
		default:
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("history %s: %w", name, err)
		}
		info, err := os.Stat(s.path(name))
		if err != nil {
			return nil, nil, err
		}
		f.bytes, f.written = info.Size(), info.ModTime()
		if segment {
			files = append(files, f)
		} else {
			states = append(states, f)
		}
	}
	return files, states, nil
}

// unpacked is how many bytes the frames have in the files from a message on. A file that is damaged counts as far as it
// is whole: to report that is for who reads it.
func (s *Segments) unpacked(files []spooled, since uint64) (bytes int64, err error) {
	for _, spool := range files {
		if spool.first < since {
			continue
		}
		f, err := os.Open(s.path(spool.name))
		if err != nil {
			return 0, err
		}
		if a, damaged := Open(f, spool.bytes); damaged == nil {
			for _, b := range a.Blocks {
				bytes += int64(b.Raw)
			}
		}
		if err := f.Close(); err != nil {
			return 0, err
		}
	}
	return bytes, nil
}

// size is how many bytes a snapshot has.
func (s *Snapshots) size(name string) (int64, error) {
	f, err := s.store.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.Seek(0, io.SeekEnd)
}
