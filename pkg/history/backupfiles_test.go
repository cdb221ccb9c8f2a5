package history_test

import (
	"os"
	"path/filepath"
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
