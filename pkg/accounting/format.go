package accounting

import (
	"bytes"

	"github.com/quill-grid/quill/pkg/grid"
)

// Format is how a file is written. Readers recognise the format of each line by its first byte.
type Format struct {
	Header string
	// Continues is the line after the header of a file that is not the first, with the number of
	// the last record of a list and the list: a format for fmt.Sprintf and fmt.Sscanf.
	Continues string
	Append    func([]byte, *grid.Accounting) []byte // a record with its newline
}

// The formats of the files accounting and accounting.jsonl.
var (
	Colons = Format{Header: Header, Continues: "# continues after record %d of list %d\n", Append: AppendLine}
	JSON   = Format{Continues: `{"continues_after":{"record":%d,"list":%d}}` + "\n", Append: AppendJSON}
)

// Comment reports whether a line of either format holds no record.
func Comment(line []byte) bool {
	return bytes.HasPrefix(line, []byte("#")) || bytes.HasPrefix(line, []byte(`{"continues_after"`))
}
