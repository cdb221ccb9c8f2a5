package history

import (
	"bytes"
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
	"strings"
)

// BackupFile is the file in the directory of a backup that says what the directory holds.
const BackupFile = "backup.json"

// BackupFiles is what the files of a backup must be, by path in its directory.
type BackupFiles struct {
	// Sum is the SHA-256 of backup.json itself, with zeros in its place; "" in older backups.
	Sum   string              `json:"sum,omitempty"`
	Files map[string]Checksum `json:"files"`
	// Next is what a run that was interrupted may have written in their place; the zero Checksum: it may have removed
	// it.
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
	var b BackupFiles
	err := ReadBackupFile(path, &b)
	own := FileDamage{}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil && !errors.As(err, &own):
		return nil, err
	}
	bad, err := b.Damages(path, nil)
	if own != (FileDamage{}) {
		bad = append([]FileDamage{own}, bad...)
	}
	return bad, err
}

// sumZeros is in the place of BackupFiles.Sum while it is calculated.
var sumZeros = strings.Repeat("0", 2*sha256.Size)

// BackupFileText returns the text of backup.json. encode is called with what BackupFiles.Sum has to be for that.
func BackupFileText(encode func(sum string) ([]byte, error)) ([]byte, error) {
	text, err := encode(sumZeros)
	if err != nil {
		return nil, err
	}
	text = append(text, '\n')
	return bytes.Replace(text, []byte(sumZeros), []byte(sumOf(text)), 1), nil
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// ReadBackupFile reads backup.json of a backup into out, which has BackupFiles in it. The error is a FileDamage if it
// is not what was written and can be read nevertheless: then out is filled, and any of it may be wrong.
func ReadBackupFile(dir string, out any) error {
	path := filepath.Join(dir, BackupFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var b BackupFiles
	if err = json.Unmarshal(text, &b); err == nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if b.Sum != "" && sumOf(bytes.Replace(text, []byte(b.Sum), []byte(sumZeros), 1)) != b.Sum {
		return FileDamage{BackupFile, path + " is not what was written: its SHA-256 differs"}
	}
	return nil
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
