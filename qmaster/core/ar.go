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
// that was asked for, or the reservation is refused.
func (c *Core) reserve(r gdi.Request, submitted *grid.AR) []gdi.Answer {
	if refusal := cmp.Or(c.mayReserve(r), c.manyARs()); refusal != nil {
		return []gdi.Answer{*refusal}
	}
	_, warnings := mailable(submitted.MailTo)
	a, refusal := c.newAR(r, submitted)
	if refusal != nil {
		return []gdi.Answer{*refusal}
	}
	p, reasons := c.cluster.Grant(a, c.now, c.zone)
	if a.Verify == "v" {
		return verified("Your job ", reasons)
	}
	if len(reasons) > 0 {
		return []gdi.Answer{*wrong("", "advance_reservation: no suitable queues")}
	}
	a.ID, a.Grants, a.GrantedPE = c.nextAR(), p.Grants, p.PE
	c.review(a)
	if refusal := c.noRoom(a.Owner, nil, a); refusal != nil {
		return []gdi.Answer{*refusal}
	}
	c.emit(events.Add(a))
	c.reportAR(a, grid.ARWaiting)
	return append(warnings, granted(a.ID))
}

func granted(id uint32) gdi.Answer {
	return gdi.Done(fmt.Sprintf("Your advance reservation %d has been granted", id)).On(gdi.Subject{AR: id, Did: gdi.DidGrant})
}

// mayReserve refuses users who have no right to make and delete reservations.
func (c *Core) mayReserve(r gdi.Request) *gdi.Answer {
	u := c.state.Userset(arUsers)
	if !c.isOperator(r) && (u == nil || !u.Contains(r.User, r.Group)) {
		return denied(fmt.Sprintf("denied: %q must be manager or in userset %q", r.User, arUsers))
	}
	return nil
}

// manyARs refuses a reservation when there are as many as may be.
func (c *Core) manyARs() *gdi.Answer {
	if limit := c.number("max_advance_reservations"); limit > 0 && c.state.Len(grid.KindAR) >= int(limit) {
		return deny(gdi.StatusLimit, "", fmt.Sprintf("rejected: only %d advance reservations are allowed per cluster", limit))
	}
	return nil
}

// nextAR is the number of the next reservation. After the highest they begin
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
// qmaster sets (owner, time, state). Without one the answer is the refusal.
func (c *Core) newAR(r gdi.Request, submitted *grid.AR) (*grid.AR, *gdi.Answer) {
	a := *submitted
	a.Owner, a.Group, a.Submit, a.State = r.User, r.Group, c.now, grid.ARWaiting
	a.Grants, a.GrantedPE, a.Message = nil, "", nil
	a.Account = cmp.Or(a.Account, grid.DefaultAccount)
	if a.MailTo, _ = mailable(submitted.MailTo); len(a.MailTo) == 0 {
		a.MailTo = grid.Names{r.User + "@" + r.Host}
	}
	if refusal := cmp.Or(wrong("M", c.manyMails(submitted.MailTo)), c.when(&a), wrong("N", validARName(a.Name)), wrong("A", validObjectName(a.Account)), c.arRequests(&a),
		wrong("u", c.arUsersExist(a.ACL))); refusal != nil {
		return nil, refusal
	}
	return &a, nil
}

// when settles start, end and duration: two of them give the third, the start
// is now if it was not given.
func (c *Core) when(a *grid.AR) *gdi.Answer {
	length := grid.Time(a.Duration) * 1000
	switch {
	case a.End == 0 && a.Duration == 0:
		return wrong("d", `missing value for "end time or duration" in advance reservation request`)
	case a.End != 0 && a.Duration != 0 && a.Start == 0:
		a.Start = a.End - length
	case a.Start == 0:
		a.Start = c.now - c.now%1000
	}
	switch {
	case a.End == 0:
		a.End = a.Start + length
	case a.End <= a.Start:
		return wrong("e", "start time is later than end time")
	case a.Duration != 0 && a.End-a.Start != length:
		return wrong("d", "difference between end and start time does not correspond to duration")
	}
	if a.Start < c.now-c.now%1000 {
		return wrong("a", "start time is in the past")
	}
	a.Duration = uint32((a.End - a.Start) / 1000)
	return nil
}

func validARName(name string) string {
	if name == "" {
		return ""
	}
	return validJobName(name)
}

// arRequests checks everything that a reservation names and normalises its
// requests.
func (c *Core) arRequests(a *grid.AR) *gdi.Answer {
	hard, err := c.cluster.Complex().Normalise(a.Hard)
	if err != nil {
		return wrong("l", strings.Replace(err.Error(), `"job" denied`, `"advance_reservation" denied`, 1))
	}
	a.Hard = hard
	if strings.EqualFold(a.Ckpt, "none") {
		a.Ckpt = ""
	}
	if refusal := cmp.Or(wrong("l", c.strangeHost(hard)), wrong("q", c.strangeQueue(a.Queues)), wrong("masterq", c.strangeQueue(a.MasterQueues))); refusal != nil {
		return refusal
	}
	switch {
	case a.Binding != nil && !a.Binding.Decided():
		return wrong("binding", "job rejected: -binding is not for advance reservations")
	case a.Binding != nil && a.Binding.Validate() != "":
		return wrong("binding", "job rejected: "+a.Binding.Validate())
	}
	refusal := wrong("pe", c.badPE("advance_reservation", a.PE, a.PERange))
	if refusal == nil && a.Ckpt != "" && c.state.Ckpt(a.Ckpt) == nil {
		refusal = wrong("ckpt", fmt.Sprintf("job rejected: the requested checkpointing environment %q does not exist", a.Ckpt))
	}
	return refusal
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
