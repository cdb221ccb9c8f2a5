package core

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// arUsers is the userset whose members may make advance reservations.
const arUsers = "arusers"

// reserve is qrsub(1): the places are found and granted at once, for the time
// that was asked for, or the reservation is refused. A request that already
// made one is answered with that one.
func (c *Core) reserve(r gdi.Request, submitted *grid.AR) []gdi.Answer {
	if known := c.state.Receipt(r.ID); r.ID != "" && known != nil && known.AR != 0 {
		if a := c.state.AR(known.AR); a == nil || a.Owner == r.User {
			return []gdi.Answer{granted(known.AR)}
		}
	}
	if text := c.mayReserve(r); text != "" {
		return []gdi.Answer{*denied(text)}
	}
	a, text := c.newAR(r, submitted)
	if text != "" {
		return []gdi.Answer{*denied(text)}
	}
	p, reasons := c.cluster.Grant(a, c.now, c.zone)
	if a.Verify == "v" {
		return verified("Your job ", reasons)
	}
	if len(reasons) > 0 {
		return []gdi.Answer{*denied("advance_reservation: no suitable queues")}
	}
	a.ID, a.Grants, a.GrantedPE = c.nextAR(), p.Grants, p.PE
	c.review(a)
	c.emit(events.Add(a))
	c.tellAR(a, grid.ARWaiting)
	return []gdi.Answer{granted(a.ID)}
}

func granted(id uint32) gdi.Answer {
	return gdi.Done(fmt.Sprintf("Your advance reservation %d has been granted", id)).On(gdi.Subject{AR: id, Did: gdi.DidGrant})
}

// mayReserve holds the user against who may make and delete reservations, and
// how many there may be.
func (c *Core) mayReserve(r gdi.Request) string {
	u := c.state.Userset(arUsers)
	if !c.isOperator(r) && (u == nil || !u.Contains(r.User, r.Group)) {
		return fmt.Sprintf("denied: %q must be manager or in userset %q", r.User, arUsers)
	}
	if r.Command == "qrdel" {
		return ""
	}
	if limit := c.number("max_advance_reservations"); limit > 0 && c.state.Len(grid.KindAR) >= int(limit) {
		return fmt.Sprintf("rejected: only %d advance reservations are allowed per cluster", limit)
	}
	return ""
}

// nextAR is the number of the next reservation. Behind the highest they begin
// again with the lowest that is free.
func (c *Core) nextAR() uint32 {
	id := uint32(c.state.Counter(grid.ARSeqNum))
	for {
		if id++; id > grid.MostARs {
			id = 1
		}
		if c.state.AR(id) == nil {
			return id
		}
	}
}

// newAR returns the advance reservation that a user submitted, completed with what
// qmaster sets (owner, time, state). The text is not empty when it is refused.
func (c *Core) newAR(r gdi.Request, submitted *grid.AR) (*grid.AR, string) {
	a := *submitted
	a.Owner, a.Group, a.Submit, a.State = r.User, r.Group, c.now, grid.ARWaiting
	a.Grants, a.GrantedPE, a.Message = nil, "", nil
	a.Account = cmp.Or(a.Account, grid.DefaultAccount)
	if len(a.MailTo) == 0 {
		a.MailTo = grid.Names{r.User + "@" + r.Host}
	}
	if text := firstNonEmpty(badMailList(submitted.MailTo), c.when(&a), validARName(a.Name), validObjectName(a.Account), c.arRequests(&a), c.arUsersExist(a.ACL)); text != "" {
		return nil, text
	}
	return &a, ""
}

// when settles start, end and duration: two of them give the third, the start
// is now if it was not given.
func (c *Core) when(a *grid.AR) string {
	length := grid.Time(a.Duration) * 1000
	switch {
	case a.End == 0 && a.Duration == 0:
		return `missing value for "end time or duration" in advance reservation request`
	case a.End != 0 && a.Duration != 0 && a.Start == 0:
		a.Start = a.End - length
	case a.Start == 0:
		a.Start = c.now - c.now%1000
	}
	switch {
	case a.End == 0:
		a.End = a.Start + length
	case a.End <= a.Start:
		return "start time is later than end time"
	case a.Duration != 0 && a.End-a.Start != length:
		return "difference between end and start time does not correspond to duration"
	}
	if a.Start < c.now-c.now%1000 {
		return "start time is in the past"
	}
	a.Duration = uint32((a.End - a.Start) / 1000)
	return ""
}

func validARName(name string) string {
	if name == "" {
		return ""
	}
	return validJobName(name)
}

// arRequests checks everything that a reservation names and normalises its
// requests.
func (c *Core) arRequests(a *grid.AR) string {
	hard, err := c.cluster.Complex().Normalise(a.Hard)
	if err != nil {
		return strings.Replace(err.Error(), `"job" denied`, `"advance_reservation" denied`, 1)
	}
	a.Hard = hard
	if text := c.strangeHost(hard); text != "" {
		return text
	}
	for _, q := range append(append(grid.Names{}, a.Queues...), a.MasterQueues...) {
		if !c.queueKnown(q) {
			return fmt.Sprintf("Job was rejected because job requests unknown queue %q", q)
		}
	}
	if strings.EqualFold(a.Ckpt, "none") {
		a.Ckpt = ""
	}
	if a.Binding != nil && !a.Binding.Decided() {
		return "job rejected: -binding is not for advance reservations"
	}
	if a.Binding != nil && a.Binding.Validate() != "" {
		return "job rejected: " + a.Binding.Validate()
	}
	switch {
	case a.PE != "" && !c.peKnown(a.PE):
		return fmt.Sprintf("job rejected: the requested parallel environment %q does not exist", a.PE)
	case a.PE != "" && a.PERange.First() == 0:
		return `"advance_reservation" rejected: pe range must be greater than zero`
	case a.Ckpt != "" && c.state.Ckpt(a.Ckpt) == nil:
		return fmt.Sprintf("job rejected: the requested checkpointing environment %q does not exist", a.Ckpt)
	}
	return ""
}

// arUsersExist checks -u: of @names there must be a userset.
func (c *Core) arUsersExist(acl grid.Names) string {
	for _, u := range acl {
		if set, ok := strings.CutPrefix(u, "@"); ok && c.state.Userset(set) == nil {
			return fmt.Sprintf("Userset %q does not exist", set)
		}
	}
	return ""
}

// badAR returns why a job can't run in the reservation that it asks for, qsub -ar.
func (c *Core) badAR(j *grid.Job) string {
	if j.AR == 0 {
		return ""
	}
	a := c.state.AR(j.AR)
	if a == nil || a.Over() {
		return fmt.Sprintf("the advance reservation id %d is invalid", j.AR)
	}
	for _, limit := range []string{"h_rt", "s_rt"} {
		if r, ok := j.Hard.Get(limit); ok && r.Num > float64(a.Duration) {
			return fmt.Sprintf("the job duration is longer than duration of the advance reservation id %d", j.AR)
		}
	}
	return ""
}
