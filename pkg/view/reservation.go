package view

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
)

// Reservation is an advance reservation: a row of qrstat.
type Reservation struct {
	ID                          uint32
	Name, Owner, Group, Account string
	State                       grid.ARState
	Messages                    []string // why it is in state W or E
	Submit, Start, End          grid.Time
	Duration                    uint32 // seconds
	Requests                    grid.Requests
	Binding                     *grid.Binding // nil: none
	StopOnError                 bool          // -he y: while it is in error no job of it starts
	Grants                      []grid.Grant
	PE                          string // granted; "" without one
	PESlots                     grid.Ranges
	MasterQueues                grid.Names
	Ckpt, MailOptions           string
	MailTo, Allowed, Denied     grid.Names // -m, -u: users and @usersets
}

func reservationOf(a *grid.AR) Reservation {
	r := Reservation{ID: a.ID, Name: a.Name, Owner: a.Owner, Group: a.Group, Account: a.Account, State: a.State,
		Messages: a.Message,
		Submit:   a.Submit, Start: a.Start, End: a.End, Duration: a.Duration, Requests: a.Hard, Binding: a.Binding,
		StopOnError: a.ErrorHandlingHard, Grants: a.Grants,
		MasterQueues: a.MasterQueues, Ckpt: a.Ckpt, MailOptions: a.MailOptions, MailTo: a.MailTo,
		Allowed: a.ACL, Denied: a.XACL}
	if a.PE != "" {
		r.PE, r.PESlots = a.GrantedPE, a.PERange
	}
	return r
}

// Reservations returns the advance reservations of some owners (patterns), by
// number.
func (v *View) Reservations(owners grid.Names) (rows []Reservation) {
	for _, a := range v.state.ARs() {
		if slices.ContainsFunc(owners, func(u string) bool { return pattern.Match(u, a.Owner) }) {
			rows = append(rows, reservationOf(a))
		}
	}
	return rows
}

// ReservationsOf returns the advance reservations of some numbers in that order,
// and the numbers of which there is none.
func (v *View) ReservationsOf(ids []uint32) (rows []Reservation, unknown []uint32) {
	for _, id := range ids {
		if a := v.state.AR(id); a != nil {
			rows = append(rows, reservationOf(a))
		} else {
			unknown = append(unknown, id)
		}
	}
	return rows, unknown
}
