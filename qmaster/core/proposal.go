package core

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// propose stores requests as a proposal.
func (c *Core) propose(in UserRequest, b *gdi.Propose) {
	p, refused := c.newProposal(in, b)
	if len(refused) == 0 {
		if refusal := c.refuseMemory(p.User, nil, p); refusal != nil {
			refused = append(refused, *refusal)
		}
	}
	if len(refused) > 0 {
		c.reply(in.Ref, refused...)
		return
	}
	c.emit(events.Add(p))
	c.expires = 0
	c.forgetProposals(in.User)
	c.answerProposed(in.Ref, p)
}

func (s *step) answerProposed(ref uint64, p *grid.Proposal) {
	s.reply(ref, gdi.Done(fmt.Sprintf("proposal %d is open until %s; a person carries it out with `quill approve %[1]d`",
		p.ID, gdi.MomentText(p.Expires))))
	s.lastReply().Proposal = p.ID
}

// newProposal returns the proposal that a request wants, or why it is refused.
func (c *Core) newProposal(in UserRequest, b *gdi.Propose) (*grid.Proposal, []gdi.Answer) {
	life := b.Seconds
	if life == 0 {
		life = grid.ProposalLife
	}
	if text := cmp.Or(c.badProposal(b, life), c.manyProposals(in.User)); text != "" {
		return nil, []gdi.Answer{gdi.Deny(gdi.StatusInvalid, "denied: "+text)}
	}
	if refused := c.unproposable(b.Changes); refused != nil {
		return nil, []gdi.Answer{*refused}
	}
	whole := in
	whole.Token = 0 // its scope bounds what the program does, not what the user is asked to approve
	list, refused := c.try(whole, b.Changes)
	if len(refused) > 0 {
		return nil, refused
	}
	touches, text := touched(c.state, list), changeText(c.state, list, c.cell.Zone)
	switch {
	case text == "":
		return nil, []gdi.Answer{gdi.Deny(gdi.StatusInvalid, "denied: the proposal changes nothing")}
	case len(touches) > grid.ProposalTouches || len(text) > grid.ProposalTextMost:
		return nil,
			[]gdi.Answer{gdi.Deny(gdi.StatusLimit,
				fmt.Sprintf(
					"denied: the proposal changes too much to be reviewed: %d objects (at most %d), described in %d bytes (at most %d)",
					len(touches), grid.ProposalTouches, len(text), grid.ProposalTextMost))}
	}
	return &grid.Proposal{
		ID: uint32(c.state.Counter(grid.ProposalSeqNum)) + 1, User: in.User, Host: in.Host, Token: in.Token,
		Agent: b.Agent, Request: in.ID,
		Created: c.cell.Now, Expires: c.cell.Now.Add(life), Reason: b.Reason, Effect: b.Effect, Changes: b.Changes,
		Text: text, Touches: touches,
	}, nil
}

// badProposal returns what is wrong with a proposal, whatever it changes.
func (c *Core) badProposal(b *gdi.Propose, life float64) string {
	switch {
	case c.format.Body == nil:
		return "proposals are not supported here"
	case math.IsNaN(life) || life < grid.ProposalLifeLeast || life > grid.ProposalLifeMost:
		return fmt.Sprintf("a proposal stays open for at least %v and at most %d days", time.Second*grid.ProposalLifeLeast,
			grid.ProposalLifeMost/(24*60*60))
	case len(b.Agent) > grid.ProposalAgentMax || !oneLine(b.Agent):
		return fmt.Sprintf("the name of the program that proposes a change has at most %d bytes, all printable",
			grid.ProposalAgentMax)
	}
	for _, text := range []string{b.Reason, b.Effect} {
		if len(text) > grid.ProposalTextMax || grid.Printable(text) != text {
			return fmt.Sprintf("the reason and the effect of a proposal have at most %d bytes each, all printable",
				grid.ProposalTextMax)
		}
	}
	return ""
}

// manyProposals refuses a user more open proposals than are allowed.
func (s *step) manyProposals(user string) string {
	open := 0
	for _, p := range s.state.Proposals() {
		if p.User == user && p.Status == grid.ProposalOpen {
			open++
		}
	}
	if open >= grid.ProposalsOpen {
		return fmt.Sprintf(
			"%q has %d open proposals, which is the limit; decide on some with `quill approve` or `quill reject`", user, open)
	}
	return ""
}

// forgetProposals removes the oldest of a user's proposals that were decided on when there are more than are kept.
func (s *step) forgetProposals(user string) {
	var over []*grid.Proposal
	for _, p := range s.state.Proposals() {
		if p.User == user && p.Status != grid.ProposalOpen {
			over = append(over, p)
		}
	}
	for len(over) > grid.ProposalsKept {
		s.emit(events.Del(grid.KindProposal, over[0].Key()))
		over = over[1:]
	}
}

// unproposable returns why requests cannot be proposed together, nil when they can.
func (c *Core) unproposable(changes [][]byte) *gdi.Answer {
	makes := 0
	for _, data := range changes {
		b, err := c.format.Body(data)
		switch {
		case err != nil:
			return gdi.Denyf(gdi.StatusInvalid, "denied: a change of the proposal cannot be read: %v", err)
		case b == nil:
			return gdi.Denyf(gdi.StatusInvalid, "denied: a change of the proposal is empty")
		case !gdi.Proposable(b):
			return gdi.Denyf(gdi.StatusInvalid, "denied: a request of this kind (%s) cannot be proposed", b.Verb())
		}
		if gdi.Makes(b) {
			makes++
		}
		switch b.(type) {
		case *gdi.Submit, *gdi.Resubmit:
			if c.cell.Param("jsv_url") != "" {
				return gdi.Denyf(gdi.StatusDenied,
					"denied: jobs of this cell pass a verifier (jsv_url) when they are submitted, and cannot be proposed; submit the job yourself")
			}
		}
	}
	if makes > 1 {
		return gdi.Denyf(gdi.StatusInvalid, "denied: a proposal makes at most one job or reservation, this one %d",
			makes)
	}
	return nil
}

// decide decides on an open proposal.
func (c *Core) decide(in UserRequest, b *gdi.Decide) {
	p := c.state.Proposal(b.Proposal)
	if refused := c.undecidable(in.Request, b, p); refused != nil {
		c.reply(in.Ref, *refused)
		return
	}
	d := grid.Decision{By: in.User + "@" + in.Host, Token: in.Token, Request: in.ID, At: c.cell.Now, Comment: b.Comment}
	switch b.Decision {
	case gdi.Approve:
		c.approve(in, p, d)
	case gdi.Reject:
		c.emit(events.Mod(decided(p, grid.ProposalRejected, d)))
		c.reply(in.Ref, gdi.Done(fmt.Sprintf("%s has rejected proposal %d", d.By, p.ID)))
	case gdi.Withdraw:
		c.emit(events.Mod(decided(p, grid.ProposalWithdrawn, d)))
		c.reply(in.Ref, gdi.Done(fmt.Sprintf("%s has withdrawn proposal %d", d.By, p.ID)))
	}
}

// decided returns a proposal with a decision.
func decided(p *grid.Proposal, status grid.ProposalStatus, d grid.Decision) *grid.Proposal {
	n := *p
	n.Status, n.Decided = status, d
	return &n
}

// undecidable returns why a decision on a proposal is refused, nil when it is not. p is nil when there is no such
// proposal.
func (s *step) undecidable(r gdi.Request, b *gdi.Decide, p *grid.Proposal) *gdi.Answer {
	switch {
	case p == nil || p.User != r.User && !s.cell.IsManager(r):
		return gdi.Denyf(gdi.StatusUnknown, "denied: %q has no proposal %d", r.User, b.Proposal)
	case p.Status == grid.ProposalExpired:
		return gdi.Denyf(gdi.StatusStale, "denied: proposal %d expired at %s", p.ID, gdi.MomentText(p.Expires))
	case p.Status != grid.ProposalOpen:
		return gdi.Denyf(gdi.StatusStale, "denied: proposal %d was %s by %s at %s", p.ID, p.Status, p.Decided.By,
			gdi.MomentText(p.Decided.At))
	case p.Expires <= s.cell.Now:
		return gdi.Denyf(gdi.StatusStale, "denied: proposal %d expired at %s", p.ID, gdi.MomentText(p.Expires))
	case len(b.Comment) > grid.ProposalTextMax || !oneLine(b.Comment):
		return gdi.Denyf(gdi.StatusInvalid, "denied: the comment on a proposal has at most %d bytes, all printable",
			grid.ProposalTextMax)
	}
	switch b.Decision {
	case gdi.Approve:
		if r.Token != 0 && r.Token == p.Token {
			return gdi.Denyf(gdi.StatusScope,
				"denied: proposal %d was made with token %d, and a person has to approve it, not the program that has this token",
				p.ID, r.Token)
		}
	case gdi.Reject:
	case gdi.Withdraw:
		if p.User != r.User || p.Token != r.Token {
			return gdi.Denyf(gdi.StatusDenied,
				"denied: proposal %d was made by another program or user; reject it with `quill reject %[1]d`", p.ID)
		}
	default:
		return gdi.Denyf(gdi.StatusInvalid, "denied: unknown decision %q: it is approve, reject or withdraw", b.Decision)
	}
	return nil
}

// approve carries a proposal out with the rights of who approves it, unless what it changes is not as it was when it
// was proposed.
func (c *Core) approve(in UserRequest, p *grid.Proposal, d grid.Decision) {
	if refused := c.unproposable(p.Changes); refused != nil {
		c.reply(in.Ref, *refused)
		return
	}
	if text := cmp.Or(c.changedSince(p), c.notOwn(in.Request, p)); text != "" {
		c.reply(in.Ref, gdi.Deny(gdi.StatusStale, text))
		return
	}
	list, refused := c.try(in, p.Changes)
	if len(refused) > 0 {
		c.reply(in.Ref,
			append(refused,
				*gdi.Denyf(gdi.StatusStale, "denied: proposal %d cannot be carried out, and nothing was changed", p.ID))...)
		return
	}
	if now := touched(c.state, list); !slices.Equal(now, p.Touches) {
		c.reply(in.Ref,
			*gdi.Denyf(gdi.StatusStale,
				"denied: proposal %d would change other objects now than when it was proposed; reject it and have it proposed anew",
				p.ID))
		return
	}
	if !asShown(p, changeText(c.state, list, c.cell.Zone)) {
		c.reply(in.Ref,
			*gdi.Denyf(gdi.StatusStale,
				"denied: proposal %d would do something else now than it says; reject it and have it proposed anew", p.ID))
		return
	}
	c.ready.List.Cause.Proposal, c.ready.List.Cause.Proposer = p.ID, p.Proposer()
	whole := c.perform(in, p.Changes)
	c.emit(events.Mod(decided(p, grid.ProposalApproved, d)))
	whole.Answers = append(whole.Answers, gdi.Done(fmt.Sprintf("%s has approved proposal %d", d.By, p.ID)))
	c.reply(in.Ref, whole.Answers...)
	last := c.lastReply()
	last.Job, last.Tasks, last.Array, last.Proposal = whole.Job, whole.Tasks, whole.Array, p.ID
}

// changedSince returns what of the objects that a proposal changes is not as it was when it was proposed, or "".
func (s *step) changedSince(p *grid.Proposal) string {
	for _, t := range p.Touches {
		o := s.state.Get(t.Of, t.Key())
		about := noun(t.Of) + " " + t.Key().String()
		switch {
		case t.Existed && o == nil:
			return fmt.Sprintf("denied: %s, which proposal %d changes, does not exist any more", about, p.ID)
		case !t.Existed && o != nil:
			return fmt.Sprintf("denied: %s, which proposal %d adds, was added meanwhile", about, p.ID)
		case o != nil && grid.Version(o) != t.Version:
			return fmt.Sprintf("denied: %s was changed since proposal %d was made; reject it and have it proposed anew", about,
				p.ID)
		}
	}
	return ""
}

// notOwn refuses to make a job or a reservation that another user has proposed: it would belong to who approves it.
func (c *Core) notOwn(r gdi.Request, p *grid.Proposal) string {
	for _, data := range p.Changes {
		if b, err := c.format.Body(data); err == nil && gdi.Makes(b) && p.User != r.User {
			return fmt.Sprintf("denied: proposal %d makes a job or reservation of %s, which only this user approves", p.ID,
				p.User)
		}
	}
	return ""
}

// try returns what requests would change if they were carried out together, or why one of them is refused. Nothing
// changes.
func (c *Core) try(in UserRequest, changes [][]byte) (list events.List, refused []gdi.Answer) {
	f := c.fork()
	whole := f.perform(in, changes)
	for _, a := range whole.Answers {
		if a.Status != gdi.StatusOK {
			refused = append(refused, a)
		}
	}
	return f.ready.List, refused
}

// fork returns a core with a copy of the state, for decisions that nothing follows from.
func (c *Core) fork() *Core {
	at := c.cell.Copy()
	f := &Core{
		step: step{cell: at, state: at.State, cluster: at.Cluster, epoch: c.epoch, began: c.began, held: c.held.copied(),
			ready: Ready{List: events.List{At: at.Now, Cause: c.ready.List.Cause}}},
		scheduler: c.scheduler, ordered: c.ordered, aside: c.aside, format: c.format,
	}
	f.connectParts()
	return f
}

// perform carries requests out one after the other, and returns their answers as one reply.
func (c *Core) perform(in UserRequest, changes [][]byte) (whole gdi.Reply) {
	before := len(c.ready.Answers)
	portion := c.portion
	c.portion = 0 // all or nothing
	defer func() { c.portion = portion }()
	for _, data := range changes {
		inner := in
		inner.Body, _ = c.format.Body(data) // anew each time: the core completes it
		if refused := c.refuseRequest(&inner); refused != nil {
			c.reply(in.Ref, *refused)
		} else {
			c.dispatch(inner)
		}
	}
	for _, a := range c.ready.Answers[before:] {
		whole.Answers = append(whole.Answers, a.Reply.Answers...)
		if a.Reply.Job != 0 {
			whole.Job, whole.Tasks, whole.Array = a.Reply.Job, a.Reply.Tasks, a.Reply.Array
		}
	}
	c.ready.Answers = c.ready.Answers[:before]
	return whole
}
