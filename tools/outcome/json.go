package outcome

import (
	"encoding/json"
	"io"
)

// JSON writes an object for each outcome, one a line: its figures and those of
// its projects.
func JSON(to io.Writer, columns []Column, of []*Outcome) error {
	lines := json.NewEncoder(to)
	for i, c := range columns {
		line := struct {
			Name string `json:"name"`
			Summary
			Passes   int     `json:"passes"`
			Took     float64 `json:"took_s"`
			Projects []Share `json:"projects,omitempty"`
		}{c.Name, c.Summary, c.Passes, c.Took.Seconds(), of[i].Shares()}
		if err := lines.Encode(line); err != nil {
			return err
		}
	}
	return nil
}
