package testkit

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// failingTB notes how a test would have failed.
type failingTB struct {
	testing.TB
	text string
}

func (f *failingTB) Helper()                           {}
func (f *failingTB) Errorf(format string, args ...any) { f.text += fmt.Sprintf(format, args...) + "\n" }

// TestLayout checks that Layout accepts what the table says, and finds each way in which a table can be wrong.
func TestLayout(t *testing.T) {
	const right = "| 0 | 2 | magic | `QX` |\n| 2 | 4 | size | |\n| 6 | n | text | |\n| | 1 | end | |\n"
	record := []byte("QX\x00\x00\x01\x02text\x07")
	want := RecordFields{"magic": "QX", "size": 0x102, "text": "text", "end": 7}
	for name, c := range map[string]struct{ old, new, found string }{
		"right":  {"", "", ""},
		"offset": {"| 2 | 4", "| 3 | 4", "field size is at byte 2, not 3"},
		"size":   {"| 4 | size", "| 8 | size", "field size is 00 00 01 02 74"},
		"order": {"| 0 | 2 | magic | `QX` |\n| 2 | 4 | size | |\n", "| 0 | 4 | size | |\n| 4 | 2 | magic | `QX` |\n",
			"field size is"},
		"missing":  {"| | 1 | end | |\n", "", "has 3 fields of 10 bytes, the code 4 of 11"},
		"no field": {"end", "sum", "the code has no field sum"},
	} {
		path := filepath.Join(t.TempDir(), "page.md")
		table := strings.Replace(right, c.old, c.new, 1)
		page :=
			"# Page\n\n## Other\n\n| offset | size |\n| --- | --- |\n| 0 | 1 |\n\n## Record\n\ntext\n\n| offset | size | field | contents |\n| --- | --- | --- | --- |\n" + table
		if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
		f := &failingTB{TB: t}
		ReadPage(f, path).Layout("Record", binary.BigEndian, record, want)
		if c.found == "" && f.text != "" || !strings.Contains(f.text, c.found) {
			t.Errorf("%s: found %q", name, f.text)
		}
	}
}
