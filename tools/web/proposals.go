package web

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/web/entry"
	"github.com/quill-grid/quill/tools/web/problem"
)

// registerProposals adds the routes of changes that programs have proposed. Each account sees its own and a manager
// all, so they are read from qmaster, with the account's rights, and not from the mirror.
func (s *handlers) registerProposals() {
	const tag = "proposals"
	huma.Register(s.api, operation(http.MethodGet, "/v1/proposals", "list-proposals", tag,
		"Changes that programs have proposed, as quill proposals"),
		func(ctx context.Context, in *struct {
			Status string `query:"status" enum:"open,all" default:"open" doc:"those that wait for a decision, or all that are kept"`
		},
		) (*content[ProposalList], error) {
			all, err := proposalsOf(ctx, entry.AccountOf(ctx), 0)
			if err != nil {
				return nil, err
			}
			out := ProposalList{Items: []document.Proposal{}}
			for _, p := range all {
				if in.Status == "all" || p.Status == grid.ProposalOpen {
					out.Items = append(out.Items, proposalOf(p))
				}
			}
			return &content[ProposalList]{out}, nil
		})
	huma.Register(s.api, operation(http.MethodGet, "/v1/proposals/{id}", "get-proposal", tag,
		"A change that a program has proposed, as quill proposals shows it"),
		func(ctx context.Context, in *struct{ ProposalPath }) (*content[document.Proposal], error) {
			all, err := proposalsOf(ctx, entry.AccountOf(ctx), in.ID)
			if err != nil {
				return nil, err
			}
			if len(all) == 0 {
				return nil, problem.New(http.StatusNotFound, problem.TypeUnknown, "path.id",
					fmt.Sprintf("%q has no proposal %d", entry.AccountOf(ctx).User(), in.ID))
			}
			return &content[document.Proposal]{proposalOf(all[0])}, nil
		})
	registerChange(s, operation(http.MethodPost, "/v1/proposals/{id}/decision", "decide-proposal", tag,
		"Approve, reject or withdraw a proposed change, as quill approve and quill reject"), "quill-decide",
		func(in *struct {
			ProposalPath
			Body struct {
				Decision string `json:"decision" enum:"approve,reject,withdraw" doc:"approve carries the change out with the rights of the account; withdraw is for the program that has proposed it"`
				Comment  string `json:"comment,omitempty" doc:"stored with the decision"`
			}
		},
		) (gdi.Body, error) {
			return &gdi.Decide{Proposal: in.ID, Decision: gdi.Decision(in.Body.Decision), Comment: in.Body.Comment}, nil
		})
}

// ProposalPath is the part {id} of a path.
type ProposalPath struct {
	ID uint32 `path:"id" minimum:"1" doc:"number of the proposal"`
}

func (ProposalPath) where(a gdi.Answer) string { return ifUnknown(a, "path.id") }

// ProposalList is a listing of proposals, by number.
type ProposalList struct {
	Items []document.Proposal `json:"items"`
}

// content is an answer with nothing but its body.
type content[T any] struct{ Body T }

// proposalsOf returns the proposals that an account may see, by number: all, or with a number this one. The error is a
// problem.
func proposalsOf(ctx context.Context, a entry.Account, number uint32) (out []*grid.Proposal, err error) {
	get := gdi.Get{Kinds: []grid.Kind{grid.KindProposal}}
	if number != 0 {
		get.Where.Keys = []grid.Key{{ID: number}}
	}
	err = a.Get(ctx, get, func(o grid.Object) error {
		if p, is := o.(*grid.Proposal); is {
			out = append(out, p)
		}
		return nil
	})
	if err != nil {
		return nil, problem.Unreachable(err)
	}
	return out, nil
}

// proposalOf returns a proposal as the API has it.
func proposalOf(p *grid.Proposal) document.Proposal {
	return document.ProposalOf(p, codec.Verbs(p))
}
