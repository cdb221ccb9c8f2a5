package document

import (
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
)

// Reservations is qrstat.
type Reservations struct {
	ARs     Rows[Reservation] `json:"ars" jsonschema:"advance reservations by number, with -ar in the order given"`
	Unknown []uint32          `json:"unknown,omitzero" jsonschema:"with -ar: numbers of which there is no reservation"`
}

// SchemaName returns qrstat.
func (Reservations) SchemaName() string { return "qrstat" }

// Reservation is an advance reservation.
type Reservation struct {
	ID       uint32    `json:"id"`
	Name     string    `json:"name" jsonschema:"empty without a name"`
	Owner    string    `json:"owner"`
	State    string    `json:"state" jsonschema:"w waiting, r active, W waiting and E active with an error, d being deleted, x ended"`
	Start    time.Time `json:"start_time,omitzero"`
	End      time.Time `json:"end_time,omitzero" jsonschema:"absent: without end"`
	Duration uint32    `json:"duration" jsonschema:"seconds"`
	Messages []string  `json:"message,omitzero" jsonschema:"with -explain or -ar: why it is in state W or E"`
	*ReservationDetail
}

// ReservationDetail is what -ar adds.
type ReservationDetail struct {
	Submit       time.Time   `json:"submission_time,omitzero" jsonschema:"with -ar"`
	Group        string      `json:"group,omitzero" jsonschema:"with -ar: of the owner"`
	Account      string      `json:"account,omitzero" jsonschema:"with -ar"`
	Requests     []Named     `json:"resource_list,omitzero" jsonschema:"with -ar: requests of -l"`
	Binding      *Binding    `json:"binding,omitzero" jsonschema:"with -ar: request of -bamount"`
	StopOnError  bool        `json:"error_handling,omitzero" jsonschema:"with -ar: no job of the reservation starts while it is in error"`
	Grants       []NamedSlot `json:"exec_queue_list,omitzero" jsonschema:"with -ar: reserved slots by queue instance"`
	PE           []NamedSpan `json:"granted_parallel_environment,omitzero" jsonschema:"with -ar: the parallel environment and the requested slots"`
	MasterQueues []string    `json:"master_hard_queue_list,omitzero" jsonschema:"with -ar: requests of -masterq"`
	Ckpt         string      `json:"checkpoint_name,omitzero" jsonschema:"with -ar: checkpointing environment"`
	MailOptions  string      `json:"mail_options,omitzero" jsonschema:"with -ar: letters of -m"`
	MailTo       []Mail      `json:"mail_list,omitzero" jsonschema:"with -ar: recipients of mail"`
	Allowed      []string    `json:"acl_list,omitzero" jsonschema:"with -ar: users and @user lists that may use the reservation"`
	Denied       []string    `json:"xacl_list,omitzero" jsonschema:"with -ar: users and @user lists that may not use the reservation"`
}

// NamedSlot is a number of slots of a queue instance.
type NamedSlot struct {
	Name  string `json:"name" jsonschema:"queue@host"`
	Slots uint32 `json:"slots"`
}

// NamedSpan is a parallel environment with the slots that are requested.
type NamedSpan struct {
	Name  string `json:"name"`
	Range string `json:"range" jsonschema:"as requested: 4, 2-8 or 4-"`
}

// Mail is a recipient of mail.
type Mail struct {
	User string `json:"user"`
	Host string `json:"host" jsonschema:"empty without a host"`
}

// ReservationsOf returns the document of some rows: with explain what is wrong, with full what
// -ar shows, and the numbers of which there is no reservation.
func ReservationsOf(v *view.View, rows []view.Reservation, unknown []uint32, explain, full bool) Reservations {
	d := Reservations{ARs: rowsOf(rows, func(a view.Reservation) Reservation {
		return reservationOf(v, a, explain || full, full)
	})}
	if full {
		d.Unknown = list(unknown)
	}
	return d
}

func reservationOf(v *view.View, a view.Reservation, explain, full bool) Reservation {
	r := Reservation{ID: a.ID, Name: a.Name, Owner: a.Owner, State: string(a.State), Start: timeOf(a.Start),
		End: timeOf(a.End), Duration: a.Duration}
	if explain {
		r.Messages = list(a.Messages)
	}
	if !full {
		return r
	}
	r.ReservationDetail = &ReservationDetail{Submit: timeOf(a.Submit), Group: a.Group, Account: a.Account,
		Requests: requestsOf(v, a.Requests),
		Binding:  bindingOf(a.Binding), StopOnError: a.StopOnError, Grants: []NamedSlot{}, PE: []NamedSpan{},
		MasterQueues: list(a.MasterQueues), Ckpt: a.Ckpt,
		MailOptions: a.MailOptions, MailTo: mailOf(a.MailTo), Allowed: list(a.Allowed), Denied: list(a.Denied)}
	for _, g := range a.Grants {
		r.Grants = append(r.Grants, NamedSlot{Name: g.Instance(), Slots: g.Slots})
	}
	if a.PE != "" {
		r.PE = append(r.PE, NamedSpan{Name: a.PE, Range: a.PESlots.Slots("")})
	}
	return r
}

func mailOf(recipients []string) []Mail {
	out := []Mail{}
	for _, r := range recipients {
		user, host, _ := strings.Cut(r, "@")
		out = append(out, Mail{User: user, Host: host})
	}
	return out
}

// requestsOf returns requests of -l with their values.
func requestsOf(v *view.View, requests grid.Requests) []Named {
	out := []Named{}
	for _, q := range requests {
		out = append(out, Named{Name: q.Name, Value: valueOf(v.Requested(q))})
	}
	return out
}
