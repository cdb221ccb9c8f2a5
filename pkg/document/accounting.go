package document

import (
	"cmp"
	"iter"
	"time"

	"github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// Accounting is qacct.
type Accounting struct {
	Jobs   Rows[accounting.Record[time.Time]] `json:"jobs,omitzero" jsonschema:"with -j: records in the order of the file"`
	Totals Rows[Total]                        `json:"totals,omitzero" jsonschema:"without names of -j: sums of the records by what -h, -q, -o and so on group"`
}

// SchemaName returns qacct.
func (Accounting) SchemaName() string { return "qacct" }

// Total is the sum of records that agree in what the options group by.
type Total struct {
	Host       *string `json:"hostname,omitzero" jsonschema:"with -h or a queue of -q"`
	Queue      *string `json:"qname,omitzero" jsonschema:"with -q"`
	Group      *string `json:"group,omitzero" jsonschema:"with -g"`
	Owner      *string `json:"owner,omitzero" jsonschema:"with -o"`
	Project    *string `json:"project,omitzero" jsonschema:"with -P: NONE without a project"`
	Department *string `json:"department,omitzero" jsonschema:"with -D: NONE without a department"`
	PE         *string `json:"granted_pe,omitzero" jsonschema:"with -pe: NONE without a parallel environment"`
	Slots      *uint32 `json:"slots,omitzero" jsonschema:"with -slots"`
	AR         *uint32 `json:"arid,omitzero" jsonschema:"with -ar: 0 without an advance reservation"`
	Account    *string `json:"account,omitzero" jsonschema:"with -A"`
	WallClock  float64 `json:"wallclock" jsonschema:"seconds"`
	User       float64 `json:"utime" jsonschema:"seconds"`
	System     float64 `json:"stime" jsonschema:"seconds"`
	CPU        float64 `json:"cpu" jsonschema:"seconds"`
	Mem        float64 `json:"mem" jsonschema:"GB seconds"`
	IO         float64 `json:"io" jsonschema:"GB"`
	IOWait     float64 `json:"iow" jsonschema:"seconds"`
}

// RecordsOf returns rows of records with the text of their failure.
func RecordsOf(records iter.Seq[*grid.Accounting]) Rows[accounting.Record[time.Time]] {
	return RecordsMeasured(func(yield func(*grid.Accounting, *accounting.Usage) bool) {
		for a := range records {
			if !yield(a, nil) {
				return
			}
		}
	})
}

// RecordsMeasured is RecordsOf, with what their lines say of the usage, unless nil.
func RecordsMeasured(records iter.Seq2[*grid.Accounting, *accounting.Usage]) Rows[accounting.Record[time.Time]] {
	return func(yield func(accounting.Record[time.Time]) bool) {
		for a, measured := range records {
			r := accounting.RecordOf(a, timeOf)
			if measured != nil {
				r.Usage.Usage = *measured
			}
			if a.Failed != 0 {
				r.FailedText = cmp.Or(r.FailedText, report.Failure(a.Failed).String())
			}
			if !yield(*r) {
				return
			}
		}
	}
}
