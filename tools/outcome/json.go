package outcome

import (
	"encoding/json"
	"io"
)

// JSON writes an object for each outcome, one a line: its figures and those of
// its projects.
func (c *Comparison) JSON(to io.Writer) error {
	lines := json.NewEncoder(to)
	for _, o := range c.Columns {
		line := struct {
			Name string `json:"name"`
			Summary
			Passes   int     `json:"passes"`
			Took     float64 `json:"took_s"`
			Projects []Share `json:"projects,omitempty"`
		}{o.Of.Name, o.Summary, o.Passes, o.Took.Seconds(), o.Of.Shares()}
		if err := lines.Encode(line); err != nil {
			return err
		}
	}
	return nil
}
