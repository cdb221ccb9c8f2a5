package codec

import (
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// proposed returns the requests of a proposal that can be read.
func proposed(p *grid.Proposal) (out []gdi.Body) {
	for _, data := range p.Changes {
		if b, err := DecodeBody(data); err == nil && b != nil {
			out = append(out, b)
		}
	}
	return out
}

// Verbs returns the names of the requests of a proposal.
func Verbs(p *grid.Proposal) (out []string) {
	for _, b := range proposed(p) {
		out = append(out, b.Verb())
	}
	return out
}
