package testkit

import (
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Page is a chapter of the manual.
type Page struct {
	t    testing.TB
	path string
	text string
}

// ReadPage returns the chapter. path leads from the package under test to the chapter.
func ReadPage(t testing.TB, path string) Page {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return Page{t, path, string(text)}
}

// Text returns the whole chapter.
func (p Page) Text() string { return p.text }

// Table returns the rows of the table below a heading whose first column has that title, without backquotes. The first
// row is the titles. The test fails when there is none.
func (p Page) Table(heading, first string) (rows [][]string) {
	p.t.Helper()
	in := false
	for line := range strings.Lines(p.text) {
		line = strings.TrimRight(line, "\n")
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			in = title == heading
			continue
		}
		if !in || !strings.HasPrefix(line, "|") {
			if len(rows) > 0 {
				break
			}
			continue
		}
		cells := strings.Split(strings.ReplaceAll(strings.Trim(line, "|"), "`", ""), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(rows) > 0 || cells[0] == first {
			rows = append(rows, cells)
		}
	}
	if len(rows) < 3 {
		p.t.Fatalf("%s has no table %q below the heading %q", p.path, first, heading)
	}
	return append(rows[:1], rows[2:]...)
}

// Block returns the text of the first fenced block below a heading. The test fails when there is none.
func (p Page) Block(heading string) string {
	p.t.Helper()
	_, below, _ := strings.Cut(p.text, "# "+heading+"\n")
	_, block, ok := strings.Cut(below, "\n```\n")
	block, _, closed := strings.Cut(block, "```\n")
	if !ok || !closed {
		p.t.Fatalf("%s has no fenced block below the heading %q", p.path, heading)
	}
	return block
}

// RecordFields are the values of the fields of a record by their names: an integer, or a string with the bytes.
type RecordFields map[string]any

// Layout compares the table "offset | size | field" below a heading with a record: its fields follow each other from
// the first byte to the last, each at its offset, if one is given, and with its value. Sizes that are not numbers are
// those of the value. The test fails with the first field that differs.
func (p Page) Layout(heading string, order binary.AppendByteOrder, record []byte, want RecordFields) {
	p.t.Helper()
	var written []byte
	rows := p.Table(heading, "offset")[1:]
	for _, row := range rows {
		offset, size, field := row[0], row[1], row[2]
		if at, err := strconv.Atoi(offset); offset != "" && (err != nil || at != len(written)) {
			p.t.Errorf("%s, %s: field %s is at byte %d, not %s", p.path, heading, field, len(written), offset)
			return
		}
		value, ok := want[field]
		if !ok {
			p.t.Errorf("%s, %s: the code has no field %s", p.path, heading, field)
			return
		}
		before := len(written)
		switch v := value.(type) {
		case string:
			written = append(written, v...)
		case int:
			var bytes []byte
			switch size {
			case "1":
				bytes = []byte{byte(v)}
			case "2":
				bytes = order.AppendUint16(nil, uint16(v))
			case "4":
				bytes = order.AppendUint32(nil, uint32(v))
			case "8":
				bytes = order.AppendUint64(nil, uint64(v))
			}
			written = append(written, bytes...)
		default:
			p.t.Fatalf("field %s is a %T", field, value)
		}
		if n, err := strconv.Atoi(size); size != "n" && (err != nil || n != len(written)-before) {
			p.t.Errorf("%s, %s: field %s has %d bytes, not %s", p.path, heading, field, len(written)-before, size)
			return
		}
		if end := len(written); end > len(record) || string(record[before:end]) != string(written[before:]) {
			p.t.Errorf("%s, %s: field %s is % x, not % x", p.path, heading, field,
				record[min(before, len(record)):min(end, len(record))], written[before:])
			return
		}
	}
	if len(written) != len(record) || len(rows) != len(want) {
		p.t.Errorf("%s, %s has %d fields of %d bytes, the code %d of %d", p.path, heading, len(rows), len(written),
			len(want), len(record))
	}
}
