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

// Scripts returns the scripts of the jobs that a proposal submits. Its text does not have them.
func Scripts(p *grid.Proposal) (out []string) {
	for _, b := range proposed(p) {
		if s, is := b.(*gdi.Submit); is && s.Job != nil && s.Job.Spec != nil && len(s.Job.Spec.Script) > 0 {
			out = append(out, string(s.Job.Spec.Script))
		}
	}
	return out
}
