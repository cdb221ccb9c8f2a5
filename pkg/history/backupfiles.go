package history

import (
	"crypto/sha256"
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
)

// BackupFile is the file in the directory of a backup that says what the directory holds.
const BackupFile = "backup.json"

// BackupFiles is what the files of a backup must be, by path in its directory.
type BackupFiles struct {
	Files map[string]Checksum `json:"files"`
	// Next is what a run that was interrupted may have written in their place; the zero Checksum: it may have removed it.
	Next map[string]Checksum `json:"next,omitempty"`
}

// Checksum is the size of a file in bytes and the SHA-256 of it, in hexadecimal digits.
type Checksum struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// ChecksumOf reads a file.
func ChecksumOf(path string) (Checksum, error) {
	f, err := os.Open(path)
	if err != nil {
		return Checksum{}, err
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	return Checksum{size, hex.EncodeToString(sum.Sum(nil))}, err
}

// FileDamage is an error of a file of a backup: it is missing, or is not what was written.
type FileDamage struct{ Name, Text string }

func (d FileDamage) Error() string { return d.Text }

// BackupDamages returns the damages of the files of a backup. There are none if path is not the directory of a backup.
func BackupDamages(path string) ([]FileDamage, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return nil, nil
	}
	text, err := os.ReadFile(filepath.Join(path, BackupFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var b BackupFiles
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(path, BackupFile), err)
	}
	return b.Damages(path, nil)
}

// Damages returns the damages of the files in a directory. With sizesOf only the sizes are compared, of the files for
// which it returns true.
func (b BackupFiles) Damages(dir string, sizesOf func(name string) bool) (bad []FileDamage, err error) {
	names := maps.Clone(b.Files)
	maps.Copy(names, b.Next)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if sizesOf != nil && !sizesOf(name) {
			continue
		}
		text, err := b.damage(dir, name, sizesOf == nil)
		if err != nil {
			return bad, err
		}
		if text != "" {
			bad = append(bad, FileDamage{name, text})
		}
	}
	return bad, nil
}

// damage returns what is wrong with a file; "" if nothing is.
func (b BackupFiles) damage(dir, name string, whole bool) (string, error) {
	path := filepath.Join(dir, name)
	had, was := b.Files[name]
	next, will := b.Next[name]
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && (!was || will && next == Checksum{}):
		return "", nil
	case errors.Is(err, fs.ErrNotExist):
		return path + " is missing", nil
	case err != nil:
		return "", err
	case info.Size() != had.Size && info.Size() != next.Size:
		return fmt.Sprintf("%s has %d bytes, not %d", path, info.Size(), had.Size), nil
	case !whole:
		return "", nil
	}
	sum, err := ChecksumOf(path)
	if err == nil && sum != had && sum != next {
		return path + " is not what was written: its SHA-256 differs", nil
	}
	return "", err
}
