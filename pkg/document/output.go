package document

import (
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
)

// Output is quill output.
type Output struct {
	Job    uint32 `json:"job_number"`
	Task   uint32 `json:"task_number,omitzero" jsonschema:"of an array"`
	Stream string `json:"stream" jsonschema:"out or err"`
	Host   string `json:"host"`
	Path   string `json:"path" jsonschema:"on the host"`
	Offset uint64 `json:"offset" jsonschema:"where text begins in the file, in bytes"`
	Next   uint64 `json:"next" jsonschema:"where it ends"`
	Size   uint64 `json:"size" jsonschema:"of the file, in bytes"`
	Ended  bool   `json:"ended" jsonschema:"the task had ended before the file was read"`
	Text   string `json:"text" jsonschema:"bytes that are no UTF-8 are replaced by U+FFFD"`
}

// OutputOf returns the document of a part of an output file.
func OutputOf(what gdi.Output, p *gdi.Part) Output {
	stream := "out"
	if what.Stderr {
		stream = "err"
	}
	return Output{what.Job, what.Task, stream, p.Host, p.Path, p.Offset, p.Next, p.Size, !p.Running,
		strings.ToValidUTF8(string(p.Data), "\ufffd")}
}

// SchemaName returns quill-output.
func (Output) SchemaName() string { return "quill-output" }
