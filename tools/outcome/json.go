package outcome

import (
	"io"

	"github.com/quill-grid/quill/pkg/document"
)

// Schedules is quill sim --json and quill replay --what-if --json.
type Schedules struct {
	Workload  string                  `json:"workload" jsonschema:"the name of the workload log; with --what-if the recorded cell and its span of time"`
	Unit      string                  `json:"unit" jsonschema:"what the members jobs and mean_queue count: jobs or tasks"`
	Schedules document.Rows[Schedule] `json:"schedules" jsonschema:"in the order of the columns of the table"`
}

// SchemaName returns quill-schedules.
func (Schedules) SchemaName() string { return "quill-schedules" }

// Schedule is the figures of an outcome.
type Schedule struct {
	Name      string `json:"name" jsonschema:"the options that make the schedule, or recorded"`
	Algorithm string `json:"algorithm,omitzero" jsonschema:"that decided at first"`
	Slots     int64  `json:"slots" jsonschema:"of the machine"`
	Summary
	Passes   int     `json:"passes,omitzero" jsonschema:"scheduling runs; absent with --what-if"`
	Took     float64 `json:"took_s,omitzero" jsonschema:"seconds that the simulation took; absent with --what-if"`
	Projects []Share `json:"projects" jsonschema:"how each project fared"`
}

// JSON writes the figures of all outcomes and of their projects as one document.
func (c *Comparison) JSON(to io.Writer) error {
	var rows []Schedule
	for _, o := range c.Columns {
		rows = append(rows, Schedule{o.Of.Name, o.Of.Policy, o.Of.Slots, o.Summary, o.Passes, o.Took.Seconds(),
			append([]Share{}, o.Of.Shares()...)})
	}
	return document.Write(to, Schedules{c.Workload, c.Unit, document.RowsOf(rows)})
}
