package validate

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// arUsers is the userset whose members may make advance reservations.
const arUsers = "arusers"

// MayReserve refuses users who have no right to make and delete reservations.
func MayReserve(c *cell.Cell, r gdi.Request) *gdi.Answer {
	u := c.State.Userset(arUsers)
	if !c.IsOperator(r) && (u == nil || !u.Contains(r.User, r.Group)) {
		return gdi.Denied(fmt.Sprintf("denied: %q must be manager or in userset %q", r.User, arUsers))
	}
	return nil
}

// TooManyARs refuses a reservation when there are as many as may be.
func TooManyARs(c *cell.Cell) *gdi.Answer {
	if limit := c.Number("max_advance_reservations"); limit > 0 && c.State.Len(grid.KindAR) >= int(limit) {
		return gdi.DenyField(gdi.StatusLimit, "",
			fmt.Sprintf("rejected: only %d advance reservations are allowed per cluster", limit))
	}
	return nil
}

// NewAR returns the advance reservation that a user submitted, completed with what
// qmaster sets (owner, time, state). Without one the answer is the refusal.
func NewAR(c *cell.Cell, r gdi.Request, submitted *grid.AR) (*grid.AR, *gdi.Answer) {
	a := *submitted
	a.Owner, a.Group, a.Submit, a.State = r.User, r.Group, c.Now, grid.ARWaiting
	a.Grants, a.GrantedPE, a.Message = nil, "", nil
	a.Account = cmp.Or(a.Account, grid.DefaultAccount)
	if a.MailTo, _ = Mailable(submitted.MailTo); len(a.MailTo) == 0 {
		a.MailTo = grid.Names{r.User + "@" + r.Host}
	}
	if refusal := cmp.Or(gdi.Invalid("M", manyMails(c, submitted.MailTo)), when(c, &a),
		gdi.Invalid("N", validARName(a.Name)), gdi.Invalid("A", validObjectName(a.Account)), arRequests(c, &a),
		gdi.Invalid("u", arUsersExist(c, a.ACL))); refusal != nil {
		return nil, refusal
	}
	return &a, nil
}

// when settles start, end and duration: two of them give the third, the start
// is now if it was not given.
func when(c *cell.Cell, a *grid.AR) *gdi.Answer {
	length := grid.Time(a.Duration) * 1000
	switch {
	case a.End == 0 && a.Duration == 0:
		return gdi.Invalid("d", `missing value for "end time or duration" in advance reservation request`)
	case a.End != 0 && a.Duration != 0 && a.Start == 0:
		a.Start = a.End - length
	case a.Start == 0:
		a.Start = c.Now - c.Now%1000
	}
	switch {
	case a.End == 0:
		a.End = a.Start + length
	case a.End <= a.Start:
		return gdi.Invalid("e", "start time is later than end time")
	case a.Duration != 0 && a.End-a.Start != length:
		return gdi.Invalid("d", "difference between end and start time does not correspond to duration")
	}
	if a.Start < c.Now-c.Now%1000 {
		return gdi.Invalid("a", "start time is in the past")
	}
	a.Duration = uint32((a.End - a.Start) / 1000)
	return nil
}

// JobOfAR returns a job with the requests of a reservation.
func JobOfAR(a *grid.AR) *grid.Job {
	return &grid.Job{Name: a.Name, Spec: &grid.JobSpec{}, JobRequest: &grid.JobRequest{Hard: a.Hard, HardQueues: a.Queues,
		MasterQueues: a.MasterQueues, PE: a.PE, Ckpt: a.Ckpt}}
}

func validARName(name string) string {
	if name == "" {
		return ""
	}
	return validJobName(name)
}

// arRequests checks everything that a reservation names and normalises its
// requests.
func arRequests(c *cell.Cell, a *grid.AR) *gdi.Answer {
	hard, err := c.Cluster.Complex().Normalise(a.Hard)
	if err != nil {
		return gdi.Invalid("l", strings.Replace(err.Error(), `"job" denied`, `"advance_reservation" denied`, 1))
	}
	a.Hard = hard
	if strings.EqualFold(a.Ckpt, "none") {
		a.Ckpt = ""
	}
	if refusal := cmp.Or(gdi.Invalid("l", strangeHost(c, hard)), gdi.Invalid("q", strangeQueue(c, a.Queues)),
		gdi.Invalid("masterq", strangeQueue(c, a.MasterQueues))); refusal != nil {
		return refusal
	}
	switch {
	case a.Binding != nil && !a.Binding.Decided():
		return gdi.Invalid("binding", "job rejected: -binding is not for advance reservations")
	case a.Binding != nil && a.Binding.Validate() != "":
		return gdi.Invalid("binding", "job rejected: "+a.Binding.Validate())
	}
	refusal := gdi.Invalid("pe", badPE(c, "advance_reservation", a.PE, a.PERange))
	if refusal == nil && a.Ckpt != "" && c.State.Ckpt(a.Ckpt) == nil {
		refusal = gdi.Invalid(
			"ckpt", fmt.Sprintf("job rejected: the requested checkpointing environment %q does not exist", a.Ckpt))
	}
	return refusal
}

// arUsersExist checks -u: of @names there must be a userset.
func arUsersExist(c *cell.Cell, acl grid.Names) string {
	for _, u := range acl {
		if set, ok := strings.CutPrefix(u, "@"); ok && c.State.Userset(set) == nil {
			return fmt.Sprintf("Userset %q does not exist", set)
		}
	}
	return ""
}

// badAR returns why a job can't run in the reservation that it asks for, qsub -ar.
func badAR(c *cell.Cell, j *grid.Job) string {
	if j.AR == 0 {
		return ""
	}
	a := c.State.AR(j.AR)
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
