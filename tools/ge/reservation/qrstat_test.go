package reservation

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/opt/opttest"
)

// reservations are those that the sessions show.
func reservations() []grid.Object {
	at := func(month, day, hour, minute int) grid.Time {
		return grid.TimeOf(time.Date(2026, time.Month(month), day, hour, minute, 0, 0, time.UTC))
	}
	return []grid.Object{
		&grid.AR{ID: 1, Owner: "alice", Group: "users", Account: "sge", Submit: at(11, 21, 5, 10), State: grid.ARWaiting,
			Start: at(12, 31, 23, 57), End: at(12, 31, 23, 59), Duration: 120,
			Grants: []grid.Grant{{Queue: "all.q", Host: "node1", Slots: 1}}},
		&grid.AR{ID: 20, Name: "with a long name", Owner: "bob", Group: "users", Account: "acct", Submit: at(11, 21, 5, 11),
			State: grid.ARError,
			Start: at(11, 21, 5, 11), End: at(11, 21, 6, 11), Duration: 3600,
			Hard:         grid.Requests{{Name: "h_rt", Value: "100"}, {Name: "lic", Value: "<2>"}},
			MasterQueues: grid.Names{"all.q@node2"},
			PE:           "m*", PERange: grid.Ranges{{First: 2, Last: 50, Step: 1}}, GrantedPE: "mpi", Ckpt: "blcr",
			ErrorHandlingHard: true,
			MailOptions:       "abe", MailTo: grid.Names{"bob@x"}, ACL: grid.Names{"alice", "@team"},
			Grants:  []grid.Grant{{Queue: "all.q", Host: "node2", Slots: 2}, {Queue: "all.q", Host: "node1", Slots: 3}},
			Message: grid.Names{"reserved queue all.q@node1 is suspended", "reserved queue all.q@node1 is disabled"}},
	}
}

// unusual is a reservation with requests of every type, and a name that has to be quoted.
func unusual() []grid.Object {
	return []grid.Object{
		&grid.AR{ID: 30, Name: `it's a "größe" <&> \n`, Owner: "bob", State: grid.ARWaiting,
			Start: grid.TimeOf(time.Unix(1800000000, 0)), Duration: 60,
			Hard: grid.Requests{{Name: "h_rt", Value: "1:00:00"}, {Name: "h_vmem", Value: "2G"},
				{Name: "exclusive", Value: "TRUE"},
				{Name: "arch", Value: "lx-*"}, {Name: "lic", Value: "INFINITY"}}},
		&grid.Centry{Name: "h_rt", Type: "TIME"}, &grid.Centry{Name: "h_vmem", Type: "MEMORY"},
		&grid.Centry{Name: "exclusive", Type: "BOOL"},
		&grid.Centry{Name: "arch", Type: "RESTRING"}, &grid.Centry{Name: "lic", Type: "DOUBLE"},
	}
}

// TestOwnReservations: without -u those of the user who calls it are shown, as with $user.
func TestOwnReservations(t *testing.T) {
	mine := &grid.AR{ID: 7, Owner: opt.Env{Getenv: os.Getenv}.User(), State: grid.ARWaiting, Duration: 60}
	for _, line := range []string{"", "-u $user"} {
		desk := opttest.New(t, RunQrstat)
		desk.Objects(append(reservations(), mine)...)
		out := desk.Do("run", nil, line)
		if !strings.Contains(out, "\n1>       7 ") || strings.Contains(out, " bob ") {
			t.Errorf("qrstat %s shows\n%s", line, out)
		}
	}
}
