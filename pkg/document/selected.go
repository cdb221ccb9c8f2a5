package document

import "github.com/quill-grid/quill/pkg/view"

// Selected is qselect.
type Selected struct {
	Queues Rows[string] `json:"queues" jsonschema:"names of the selected queue instances, queue@host"`
}

// SchemaName returns qselect.
func (Selected) SchemaName() string { return "qselect" }

// SelectedOf returns the document of some rows.
func SelectedOf(rows []view.Queue) Selected {
	return Selected{Queues: rowsOf(rows, func(q view.Queue) string { return q.Name() })}
}
