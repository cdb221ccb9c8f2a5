package grid

import "fmt"

// Proposal is a change that a program has proposed and that is carried out when a person approves it, quill(1). The
// number is never given to another proposal. User, Host and Token are of the connection that it came over; Agent,
// Reason and Effect are what the program says.
type Proposal struct {
	ID      uint32
	Status  ProposalStatus
	User    string `see:"who"`
	Host    string `see:"keep"`
	Token   uint32 // 0: none
	Agent   string `see:"owner"` // the program
	Request string `see:"keep"`  // number of the request
	Created Time
	Expires Time
	Reason  string    `see:"owner"`
	Effect  string    `see:"owner"` // what the program has found that the change does
	Changes [][]byte  `see:"owner"` // the requests that are carried out together, as clients send them
	Text    string    `see:"owner"` // what they change: found by qmaster when the change was proposed
	Touches []Touched `see:"owner"` // the objects that they change, in order
	Decided Decision  `see:"owner"`
}

// Touched is an object that a proposal changes, and its version when it was proposed; 0: it has none, or did not exist.
type Touched struct {
	Of      Kind
	ID      uint32
	Name    string `see:"text"`
	Existed bool
	Version uint32
}

// Key returns the key of the object.
func (t Touched) Key() Key { return Key{ID: t.ID, Name: t.Name} }

// Decision is who decided on a proposal, and when.
type Decision struct {
	By      string `see:"at"` // user@host; qmaster, when it has expired
	Token   uint32 // of the connection, 0: none
	Request string `see:"keep"` // number of the request
	At      Time
	Comment string
}

func (*Proposal) Kind() Kind { return KindProposal }
func (p *Proposal) Key() Key { return Key{ID: p.ID} }

// Proposer returns who proposed the change: "alice@h1 with token 7 (agent 1.0)".
func (p *Proposal) Proposer() string {
	text := p.User + "@" + p.Host
	if p.Token != 0 {
		text += fmt.Sprintf(" with token %d", p.Token)
	}
	if p.Agent != "" {
		text += " (" + p.Agent + ")"
	}
	return text
}

// ProposalSeqNum names the counter of proposals: the last number given.
const ProposalSeqNum = "proposalseqnum"

// Limits of proposals.
const (
	ProposalsOpen     = 20                // open proposals of one user
	ProposalsKept     = 30                // proposals of one user that are kept after the decision
	ProposalLife      = 24 * 60 * 60      // seconds, of a proposal that is made without a time
	ProposalLifeLeast = 60                // seconds
	ProposalLifeMost  = 30 * 24 * 60 * 60 // seconds
	ProposalChanges   = 16                // requests
	ProposalSize      = 32 << 10          // bytes of its requests
	ProposalTouches   = 200               // objects that it changes
	ProposalTextMost  = 32 << 10          // bytes of Text
	ProposalTextMax   = 4 << 10           // bytes of Reason and of Effect
	ProposalAgentMax  = 100               // bytes of Agent
)

// ProposalStatus is what has become of a proposal.
type ProposalStatus uint8

const (
	ProposalOpen ProposalStatus = iota
	ProposalApproved
	ProposalRejected
	ProposalWithdrawn
	ProposalExpired
)

var proposalStatusNames = [...]string{ProposalOpen: "open", ProposalApproved: "approved", ProposalRejected: "rejected",
	ProposalWithdrawn: "withdrawn", ProposalExpired: "expired"}

// String returns the name of the status.
func (s ProposalStatus) String() string {
	if int(s) < len(proposalStatusNames) {
		return proposalStatusNames[s]
	}
	return fmt.Sprintf("status %d", uint8(s))
}
