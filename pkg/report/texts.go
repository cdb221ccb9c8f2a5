package report

import "github.com/quill-grid/quill/pkg/grid"

// texts are those of reports, each one printable line.
var texts = grid.NewTexts(nil, &Report{}, &Piece{})

// InLines writes what could make a line of its own in a listing, a log or a mail, or have a terminal do something, as
// it would be written in a program: a host passes on what jobs, load sensors and devices say.
func (r *Report) InLines() { texts.Each(r, inLine) }

// InLines is Report.InLines of the answer to a Read; Data is what the file has.
func (p *Piece) InLines() { texts.Each(p, inLine) }

func inLine(_ string, _ grid.TextRule, text string) string { return grid.OneLine(text) }
