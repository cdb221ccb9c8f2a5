package core

import (
	"cmp"
	"fmt"

	"github.com/quill-grid/quill/qmaster/core/refuse"
	"github.com/quill-grid/quill/qmaster/core/validate"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// reserve is qrsub(1): the places are found and granted at once, for the time
// that was asked for, or the reservation is refused.
func (c *Core) reserve(r gdi.Request, submitted *grid.AR) []gdi.Answer {
	if refusal := cmp.Or(validate.MayReserve(c.cell, r), validate.TooManyARs(c.cell)); refusal != nil {
		return []gdi.Answer{*refusal}
	}
	_, warnings := validate.Mailable(submitted.MailTo)
	a, refusal := validate.NewAR(c.cell, r, submitted)
	if refusal != nil {
		return []gdi.Answer{*refusal}
	}
	p, reasons := c.cluster.Grant(a, c.cell.Now, c.cell.Zone)
	if a.Verify == "v" {
		return validate.Verified("Your job ", reasons)
	}
	if len(reasons) > 0 {
		return []gdi.Answer{*refuse.Invalid("", "advance_reservation: no suitable queues")}
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
