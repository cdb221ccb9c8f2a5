package core

import (
	"cmp"
	"fmt"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/validate"
)

// reserve is qrsub(1): the places are found and granted at once, for the time
// that was asked for, or the reservation is refused.
func (s *step) reserve(r gdi.Request, submitted *grid.AR) []gdi.Answer {
	if refusal := cmp.Or(validate.MayReserve(s.cell, r), validate.TooManyARs(s.cell)); refusal != nil {
		return []gdi.Answer{*refusal}
	}
	_, warnings := validate.Mailable(submitted.MailTo)
	a, refusal := validate.NewAR(s.cell, r, submitted)
	if refusal != nil {
		return []gdi.Answer{*validate.WithHint(s.cell, refusal, validate.JobOfAR(submitted))}
	}
	p, reasons := s.cluster.Grant(a, s.cell.Now, s.cell.Zone)
	if a.Verify == "v" {
		return validate.Verified("Your job ", reasons)
	}
	if len(reasons) > 0 {
		return []gdi.Answer{*gdi.Invalid("", "advance_reservation: no suitable queues")}
	}
	a.ID, a.Grants, a.GrantedPE = s.nextAR(), p.Grants, p.PE
	s.reviewAR(a)
	if refusal := s.refuseMemory(a.Owner, nil, a); refusal != nil {
		return []gdi.Answer{*refusal}
	}
	s.emit(events.Add(a))
	s.reportAR(a, grid.ARWaiting)
	return append(warnings, granted(a.ID))
}

func granted(id uint32) gdi.Answer {
	return gdi.Done(fmt.Sprintf("Your advance reservation %d has been granted", id)).On(
		gdi.Subject{AR: id, Did: gdi.DidGrant})
}

// nextAR is the number of the next reservation. After the highest they begin
// again with the lowest that is free.
func (s *step) nextAR() uint32 {
	id := uint32(s.state.Counter(grid.ARSeqNum))
	for {
		if id++; id > grid.MostARs {
			id = 1
		}
		if s.state.AR(id) == nil {
			return id
		}
	}
}
