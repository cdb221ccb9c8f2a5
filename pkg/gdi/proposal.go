package gdi

import (
	"errors"
	"fmt"

	"github.com/quill-grid/quill/pkg/grid"
)

// Propose stores requests as a proposal, which a person approves or rejects: grid.Proposal. It is refused when the
// requests cannot be carried out with the rights of the user of this request. Each change is a body as clients send it
// (codec.AppendBody). Reply.Proposal is its number.
type Propose struct {
	Changes [][]byte
	Seconds float64 // it stays open; 0: grid.ProposalLife
	Agent   string  // the program that proposes it
	Reason  string
	Effect  string // what the program has found that the change does
}

// Decision is what Decide decides.
type Decision string

const (
	// Approve carries the change out, with the rights of the user who approves, in one transaction.
	Approve Decision = "approve"
	Reject  Decision = "reject"
	// Withdraw is how the program that has proposed the change takes it back.
	Withdraw Decision = "withdraw"
)

// Decide decides on an open proposal.
type Decide struct {
	Proposal uint32
	Decision Decision
	Comment  string
}

func (*Propose) Verb() string { return "propose" }
func (*Decide) Verb() string  { return "decide" }

// Proposable reports whether a request may be proposed: it changes something at once, and is no log-in, token or other
// proposal.
func Proposable(b Body) bool {
	switch b.(type) {
	case *Submit, *Resubmit, *Alter, *DeleteJobs, *Control, *Reserve, *DeleteARs, *Add, *Modify, *Change, *Delete:
		return true
	}
	return false
}

// Makes reports whether a request makes a job or a reservation, which belongs to the user whose request it is.
func Makes(b Body) bool {
	switch b.(type) {
	case *Submit, *Resubmit, *Reserve:
		return true
	}
	return false
}

// complete checks that a proposal has changes, and no more than are allowed.
func (b *Propose) complete() error {
	size := 0
	for _, c := range b.Changes {
		size += len(c)
	}
	switch {
	case len(b.Changes) == 0:
		return errors.New("a proposal without a change")
	case len(b.Changes) > grid.ProposalChanges:
		return fmt.Errorf("%d requests in one proposal, at most %d are allowed", len(b.Changes), grid.ProposalChanges)
	case size > grid.ProposalSize:
		return fmt.Errorf("the requests of a proposal have %d bytes, at most %d are allowed", size, grid.ProposalSize)
	}
	return nil
}
