package console

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
)

var proposalsPage = page{path: proposalsPath, name: "proposals", show: showProposals}

// decidedShown bounds the proposals that were decided on.
const (
	decidedShown = 50
	openShown    = 20
)

// proposals are the changes that programs have proposed, the newest first.
type proposals struct {
	Open, Decided []*grid.Proposal
	Rest          listPart // of the open ones
	Hidden        int      // of those that were decided on
}

// showProposals shows those of now: what was proposed at a moment of the past is in the log.
func showProposals(r *request) (any, error) {
	all, err := r.session.Proposals(r.Context())
	if err != nil {
		return nil, err
	}
	d := &proposals{}
	for _, p := range slices.Backward(all) {
		switch {
		case p.Status == grid.ProposalOpen:
			d.Open = append(d.Open, p)
		case len(d.Decided) == r.most(decidedShown):
			d.Hidden++
		default:
			d.Decided = append(d.Decided, p)
		}
	}
	d.Open, d.Rest, err = listPartOf(r, "after", d.Open, openShown)
	return d, err
}
