package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	keysDir   = "keys"
	commonDir = "common"

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

	Root string `json:"root"` // SGE_ROOT, which settings.sh in common names
	history.BackupFiles

	damage error // of backup.json itself
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
	s := &summary{}
	err := history.ReadBackupFile(dir, s)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.As(err, new(history.FileDamage)):
		s.damage = err
		return s, nil
	case err != nil:
		return nil, err
	}
	if s.Version != summaryVersion {
		return nil, fmt.Errorf("%s: version %d, this program reads version %d", filepath.Join(dir, history.BackupFile),
			s.Version, summaryVersion)
	}
	return s, nil
}

// complete reports whether a backup was ever completed: not, where the first one was interrupted.
func (s *summary) complete() bool { return s.End.Message > 0 }

func (s *summary) write(dir string) error {
	text, err := history.BackupFileText(func(sum string) ([]byte, error) {
		s.Sum = sum
		return json.MarshalIndent(s, "", "  ")
	})
	if err != nil {
		return err
	}
	return archive.Replace(filepath.Join(dir, history.BackupFile), text, 0o600)
}

// rewritten reports whether each backup writes a file anew.
func rewritten(name string, c cell.Cell) bool {
	return filepath.Dir(name) != history.SegmentsDir && !slices.Contains(uncopied(c), filepath.Base(name))
}

// addKept adds the files in a directory that a later backup does not write anew. What is in before is not read again.
func addKept(files map[string]history.Checksum, before *summary, dir string, c cell.Cell) error {
	names, err := filepath.Glob(filepath.Join(dir, history.SegmentsDir, "*"))
	if err != nil {
		return err
	}
	for _, path := range []string{c.Accounting(), c.AccountingJSON()} {
		names = append(names, filepath.Join(dir, commonDir, filepath.Base(path)))
	}
	for _, path := range names {
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if before != nil {
			if sum, ok := before.Files[name]; ok {
				files[name] = sum
				continue
			}
		}
		sum, err := history.ChecksumOf(path)
		if errors.Is(err, fs.ErrNotExist) { // there are no accounting records yet
			continue
		}
		if err != nil {
			return err
		}
		files[name] = sum
	}
	return nil
}

// joined is one error of the damages of a backup.
func joined(bad []history.FileDamage) error {
	texts := make([]string, len(bad))
	for i, d := range bad {
		texts[i] = d.Text
	}
	return errors.New(strings.Join(texts, ", ") + ": the backup is damaged")
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

// folder is the files of a folder, in memory.
type folder struct {
	mode  fs.FileMode
	files []folderFile
}

type folderFile struct {
	name string
	mode fs.FileMode
	text []byte
}

// readFolder reads the files of a folder, except some. Links are read as what they point to; sockets and folders below
// are left out.
func readFolder(from string, except ...string) (folder, error) {
	info, err := os.Stat(from)
	if err != nil {
		return folder{}, err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return folder{}, err
	}
	out := folder{mode: info.Mode().Perm()}
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(from, e.Name()))
		switch {
		case errors.Is(err, fs.ErrNotExist) || slices.Contains(except, e.Name()) || strings.HasPrefix(e.Name(), "."):
			continue // it was removed meanwhile, or is another link to a file
		case err != nil:
			return folder{}, err
		case !info.Mode().IsRegular():
			continue
		}
		text, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			return folder{}, err
		}
		out.files = append(out.files, folderFile{e.Name(), info.Mode().Perm(), text})
	}
	return out, nil
}

// sums adds the checksums of the files to those of a backup, in which they have a folder.
func (f folder) sums(files map[string]history.Checksum, dir string) {
	for _, file := range f.files {
		sum := sha256.Sum256(file.text)
		files[filepath.Join(dir, file.name)] = history.Checksum{Size: int64(len(file.text)),
			SHA256: hex.EncodeToString(sum[:])}
	}
}

// write writes the files to a folder. Others that are there are removed, those in except stay as they are.
func (f folder) write(to string, except ...string) error {
	if err := errors.Join(os.MkdirAll(to, 0o700), os.Chmod(to, f.mode)); err != nil {
		return err
	}
	kept := slices.Clone(except)
	for _, file := range f.files {
		if err := archive.Replace(filepath.Join(to, file.name), file.text, file.mode); err != nil {
			return err
		}
		kept = append(kept, file.name)
	}
	there, err := os.ReadDir(to)
	for _, e := range there {
		if !slices.Contains(kept, e.Name()) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(to, e.Name())))
		}
	}
	return err
}

// copyDir makes to a copy of a folder, see readFolder and folder.write.
func copyDir(to, from string, except ...string) error {
	f, err := readFolder(from, except...)
	if err != nil {
		return err
	}
	return f.write(to, except...)
}
