package history_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/quill-grid/quill/pkg/history"
)

// TestInterruptedBackup: what a run that was interrupted has replaced, removed or left as it was is no damage; what is
// neither the old file nor the new one is.
func TestInterruptedBackup(t *testing.T) {
	dir := t.TempDir()
	sum := func(text string) history.Checksum {
		must(t, os.WriteFile(filepath.Join(dir, "sum"), []byte(text), 0o600))
		c, err := history.ChecksumOf(filepath.Join(dir, "sum"))
		must(t, err)
		return c
	}
	b := history.BackupFiles{
		Files: map[string]history.Checksum{"changes": sum("old"), "leaves": sum("old"), "stays": sum("old")},
		Next:  map[string]history.Checksum{"changes": sum("new"), "leaves": {}, "comes": sum("new")},
	}
	for name, c := range map[string]struct {
		files map[string]string
		bad   string
	}{
		"before":  {map[string]string{"changes": "old", "leaves": "old", "stays": "old"}, ""},
		"between": {map[string]string{"changes": "new", "leaves": "old", "stays": "old"}, ""},
		"after":   {map[string]string{"changes": "new", "stays": "old", "comes": "new"}, ""},
		"damaged": {map[string]string{"changes": "odd", "leaves": "old", "stays": "old"}, "changes"},
		"missing": {map[string]string{"leaves": "old", "stays": "old"}, "changes"},
		"lost":    {map[string]string{"changes": "new", "comes": "new"}, "stays"},
		"half":    {map[string]string{"changes": "new", "stays": "old", "comes": "ne"}, "comes"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range c.files {
				must(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
			}
			bad, err := b.Damages(dir, nil)
			must(t, err)
			if c.bad == "" && len(bad) > 0 || c.bad != "" && (len(bad) != 1 || bad[0].Name != c.bad) {
				t.Errorf("%v, want %q", bad, c.bad)
			}
		})
	}
}

// TestBackupFileDamage: a flipped bit of backup.json is found, or changes nothing that is read. One of before it had a
// checksum is read.
func TestBackupFileDamage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, history.BackupFile)
	type file struct {
		Last uint64 `json:"last"`
		history.BackupFiles
	}
	written := file{Last: 17}
	written.Files = map[string]history.Checksum{"a": {Size: 3, SHA256: "0011"}}
	read := func() (got file, err error) {
		err = history.ReadBackupFile(dir, &got)
		got.Sum = ""
		return got, err
	}
	for _, sealed := range []bool{false, true} {
		text, err := history.BackupFileText(func(sum string) ([]byte, error) {
			with := written
			if sealed {
				with.Sum = sum
			}
			return json.MarshalIndent(with, "", "  ")
		})
		must(t, err)
		must(t, os.WriteFile(path, text, 0o600))
		got, err := read()
		must(t, err)
		if !reflect.DeepEqual(got, written) {
			t.Fatalf("%+v, not %+v", got, written)
		}
		found := 0
		for i := range text {
			for bit := range 8 {
				text[i] ^= 1 << bit
				must(t, os.WriteFile(path, text, 0o600))
				got, err := read()
				if sealed && err == nil && !reflect.DeepEqual(got, written) {
					t.Fatalf("bit %d of byte %d is not missed: %+v", bit, i, got)
				}
				if errors.As(err, new(history.FileDamage)) {
					found++
				}
				text[i] ^= 1 << bit
			}
		}
		if sealed != (found > 0) {
			t.Errorf("sealed %v: %d flipped bits were found", sealed, found)
		}
	}
}
