package document

import (
	"time"

	"github.com/quill-grid/quill/pkg/grid"
)

// Proposals is quill proposals.
type Proposals struct {
	Proposals Rows[Proposal] `json:"proposals" jsonschema:"by number"`
}

// SchemaName returns quill-proposals.
func (Proposals) SchemaName() string { return "quill-proposals" }

// Proposal is a change that a program has proposed.
type Proposal struct {
	ID        uint32          `json:"id"`
	Status    string          `json:"status" jsonschema:"open, approved, rejected, withdrawn or expired"`
	User      string          `json:"user"`
	Host      string          `json:"host"`
	Token     uint32          `json:"token,omitzero" jsonschema:"number of the token that it was made with"`
	Agent     string          `json:"agent,omitzero" jsonschema:"the program, as it calls itself"`
	Created   time.Time       `json:"created"`
	Expires   time.Time       `json:"expires"`
	Reason    string          `json:"reason,omitzero" jsonschema:"why, as the program says"`
	Change    string          `json:"change" jsonschema:"what is changed, field by field, as qmaster found it when it was proposed; lines of the script of a new job begin with |"`
	Effect    string          `json:"effect,omitzero" jsonschema:"what the program has found that the change does"`
	Requests  []string        `json:"requests" jsonschema:"the requests that are carried out, by their names"`
	Objects   []ChangedObject `json:"objects" jsonschema:"the objects that are changed; new jobs and reservations are not among them"`
	Decided   time.Time       `json:"decided,omitzero"`
	DecidedBy string          `json:"decided_by,omitzero" jsonschema:"user@host; qmaster, when it has expired"`
	Comment   string          `json:"comment,omitzero" jsonschema:"of the decision"`
}

// ChangedObject is an object that a proposal changes.
type ChangedObject struct {
	Kind    string `json:"kind" jsonschema:"as in names of events: JOB, CQUEUE"`
	Key     string `json:"key" jsonschema:"number or name"`
	Version uint32 `json:"version,omitzero" jsonschema:"when it was proposed; the proposal is refused when it is another one by now"`
}

// ProposalOf returns a proposal with the names of its requests.
func ProposalOf(p *grid.Proposal, requests []string) Proposal {
	d := Proposal{
		ID: p.ID, Status: p.Status.String(), User: p.User, Host: p.Host, Token: p.Token, Agent: p.Agent,
		Created: timeOf(p.Created), Expires: timeOf(p.Expires),
		Reason: p.Reason, Change: p.Text, Effect: p.Effect, Requests: append([]string{}, requests...),
		Objects:   []ChangedObject{},
		DecidedBy: p.Decided.By, Comment: p.Decided.Comment,
	}
	if p.Decided.At != 0 {
		d.Decided = timeOf(p.Decided.At)
	}
	for _, t := range p.Touches {
		d.Objects = append(d.Objects, ChangedObject{t.Of.String(), t.Key().String(), t.Version})
	}
	return d
}
