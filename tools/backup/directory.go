package backup

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/pkg/archive"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
)

// The parts of a backup.
const (
	summaryFile = "backup.json"
	keysDir     = "keys"
	commonDir   = "common"

	summaryVersion = 1
)

// summary is backup.json: what the directory holds, completely.
type summary struct {
	Version int       `json:"version"`
	Cell    string    `json:"cell"`
	Host    string    `json:"host"` // of qmaster
	Made    grid.Time `json:"made"`
	Lists   int       `json:"lists"` // after the state
	First   mark      `json:"first"` // the state
	Last    mark      `json:"last"`
	End     end       `json:"end"`

	Root  string           `json:"root"`  // SGE_ROOT, which settings.sh in common names
	Files map[string]int64 `json:"files"` // the sizes of what a later backup does not write anew, by path
}

// mark is a history.Mark as JSON.
type mark struct {
	List uint64    `json:"list"`
	Time grid.Time `json:"time"` // milliseconds since 1970
}

func markOf(m history.Mark) mark { return mark{m.Seq, m.At} }

// end is a frame.Point as JSON.
type end struct {
	Epoch   uint64 `json:"epoch"`
	List    uint64 `json:"list"`
	Message uint64 `json:"message"`
	Hash    string `json:"hash"`
}

func endOf(p frame.Point) end {
	return end{uint64(p.Epoch), p.Seq, p.Stream, hex.EncodeToString(p.Hash[:])}
}

func (e end) point() (frame.Point, error) {
	p := frame.Point{Epoch: frame.Epoch(e.Epoch), Seq: e.List, Stream: e.Message}
	hash, err := hex.DecodeString(e.Hash)
	if err == nil && len(hash) != len(p.Hash) {
		err = errors.New("no hash")
	}
	copy(p.Hash[:], hash)
	return p, err
}

// readSummary returns what a directory holds; nil if there is no backup in it.
func readSummary(dir string) (*summary, error) {
	text, err := os.ReadFile(filepath.Join(dir, summaryFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := &summary{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, summaryFile), err)
	}
	if s.Version != summaryVersion {
		return nil, fmt.Errorf("%s: version %d, this program reads version %d", filepath.Join(dir, summaryFile),
			s.Version, summaryVersion)
	}
	return s, nil
}

// complete reports whether a backup was ever completed: not, where the first one was interrupted.
func (s *summary) complete() bool { return s.End.Message > 0 }

func (s *summary) write(dir string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return archive.Replace(filepath.Join(dir, summaryFile), append(text, '\n'), 0o600)
}

// filesOf returns the sizes of the files in a directory that a later backup does not write anew.
func filesOf(dir string, c cell.Cell) (map[string]int64, error) {
	paths, err := filepath.Glob(filepath.Join(dir, history.SegmentsDir, "*"))
	if err != nil {
		return nil, err
	}
	for _, path := range []string{c.Accounting(), c.AccountingJSON()} {
		paths = append(paths, filepath.Join(dir, commonDir, filepath.Base(path)))
	}
	files := map[string]int64{}
	for _, path := range paths {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) { // there are no accounting records yet
			continue
		}
		if err != nil {
			return nil, err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return nil, err
		}
		files[name] = info.Size()
	}
	return files, nil
}

// intact returns an error if a file of the backup is missing or has another size. What is in the files is for restore
// and log verify.
func (s *summary) intact(dir string) error {
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%s is missing: the backup is damaged", path)
		case err != nil:
			return err
		case info.Size() != s.Files[name]:
			return fmt.Errorf("%s has %d bytes, not %d: the backup is damaged", path, info.Size(), s.Files[name])
		}
	}
	return nil
}

// lockDir keeps a second backup out of a directory until what it returns is closed.
func lockDir(dir string) (io.Closer, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: another backup to it is running (%w)", dir, err)
	}
	return f, nil
}

// removeBeyond removes what an interrupted backup left: segments that end after the point up to which the directory is
// complete.
func removeBeyond(dir string, complete frame.Point) error {
	entries, err := os.ReadDir(filepath.Join(dir, history.SegmentsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		var first, last uint64
		if n, _ := fmt.Sscanf(e.Name(), "%d-%d.seg", &first, &last); n == 2 && last <= complete.Stream {
			continue
		}
		err = errors.Join(err, os.Remove(filepath.Join(dir, history.SegmentsDir, e.Name())))
	}
	return err
}

// copyDir makes to a copy of a folder: files that from does not have are removed, those in except stay as they are.
// Links are copied as what they point to; sockets and folders below are left out.
func copyDir(to, from string, except ...string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(to, 0o700), os.Chmod(to, info.Mode().Perm())); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	kept := slices.Clone(except)
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(from, e.Name()))
		switch {
		case errors.Is(err, fs.ErrNotExist) || slices.Contains(except, e.Name()) || strings.HasPrefix(e.Name(), "."):
			continue // it was removed meanwhile, or is another link to a file
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			continue
		}
		text, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err == nil {
			err = archive.Replace(filepath.Join(to, e.Name()), text, info.Mode().Perm())
		}
		if err != nil {
			return err
		}
		kept = append(kept, e.Name())
	}
	there, err := os.ReadDir(to)
	for _, e := range there {
		if !slices.Contains(kept, e.Name()) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(to, e.Name())))
		}
	}
	return err
}
