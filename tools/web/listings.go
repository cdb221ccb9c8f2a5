package web

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"time"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/product"
	"github.com/quill-grid/quill/pkg/view"
)

func (s *Server) registerListings() {
	list(s, operation(http.MethodGet, "/v1/queues", "list-queues", "listings", "Queue instances, as qstat -f lists them"), listQueues)
	list(s, operation(http.MethodGet, "/v1/hosts", "list-hosts", "listings", "Execution hosts, as qhost lists them"), listHosts)
	list(s, operation(http.MethodGet, "/v1/quotas", "list-quotas", "listings", "Usage of resource quotas, as qquota lists it"), listQuotas)
	list(s, operation(http.MethodGet, "/v1/reservations", "list-reservations", "reservations", "Advance reservations, as qrstat lists them"), listReservations)
}

func listQueues(_ context.Context, in *struct {
	Reading
	Queue []string `query:"queue" doc:"wildcard queues, as all.q@node1"`
	PE    []string `query:"pe" doc:"that offer one of these parallel environments"`
	User  []string `query:"user" doc:"that admit one of these users"`
	State string   `query:"state" doc:"in one of these states: letters of qstat -qs"`
}, at moment, _ bool,
) (rows[document.Queue], error) {
	states, err := view.ParseQueueStates(in.State, "aAcdDEosSCu")
	if err != nil {
		return rows[document.Queue]{}, invalid("query.state", err)
	}
	queues, err := at.view().Queues(view.QueueFilter{Queues: in.Queue, PEs: in.PE, Users: in.User, States: states}, "load_avg")
	none := (*view.NoneLeftError)(nil)
	switch {
	case errors.Is(err, view.ErrNone), errors.As(err, &none):
		queues = nil
	case err != nil:
		return rows[document.Queue]{}, invalid("query.pe", err)
	}
	show := document.QueueShow{Messages: func(q *view.Queue) []string { return []string{q.Message} }}
	each := func(yield func(*view.Queue) bool) {
		for n := range queues {
			if !yield(&queues[n]) {
				return
			}
		}
	}
	return rows[document.Queue]{items: iter.Seq[document.Queue](document.QueuesOf(show, document.JobShow{}, each, nil, nil).Queues)}, nil
}

func listHosts(_ context.Context, in *struct {
	Reading
	Host []string `query:"host" doc:"names, patterns"`
}, at moment, _ bool,
) (rows[document.Host], error) {
	hosts, err := at.view().Hosts(view.HostFilter{Hosts: in.Host})
	if err != nil {
		return rows[document.Host]{}, invalid("query.host", err)
	}
	return rows[document.Host]{items: iter.Seq[document.Host](document.HostsOf(hosts, document.HostParts{Topology: true}).Hosts)}, nil
}

func listQuotas(_ context.Context, in *struct {
	Reading
	User     []string `query:"user" doc:"usage of these users"`
	Project  []string `query:"project" doc:"usage of these projects"`
	PE       []string `query:"pe" doc:"usage of these parallel environments"`
	Queue    []string `query:"queue" doc:"usage of these cluster queues"`
	Host     []string `query:"host" doc:"usage of these hosts"`
	Resource []string `query:"resource" doc:"only these attributes of the complex"`
}, at moment, _ bool,
) (rows[document.Quota], error) {
	f := view.QuotaFilter{Resources: in.Resource}
	f.By[grid.QuotaUsers], f.By[grid.QuotaProjects], f.By[grid.QuotaPEs] = in.User, in.Project, in.PE
	f.By[grid.QuotaQueues], f.By[grid.QuotaHosts] = in.Queue, in.Host
	return rows[document.Quota]{items: iter.Seq[document.Quota](document.QuotasOf(at.view().Quotas(f)).Usage)}, nil
}

func listReservations(_ context.Context, in *struct {
	Reading
	User []string `query:"user" doc:"owners: names, patterns; without it all"`
}, at moment, _ bool,
) (rows[document.Reservation], error) {
	if len(in.User) == 0 {
		in.User = []string{"*"}
	}
	v := at.view()
	return rows[document.Reservation]{items: iter.Seq[document.Reservation](document.ReservationsOf(v, v.Reservations(in.User), nil, true, false).ARs)}, nil
}

// Cell is the cell and the position of the mirror.
type Cell struct {
	Name    string    `json:"name"`
	Product string    `json:"product"`
	Version string    `json:"version" doc:"of this server"`
	User    string    `json:"user" doc:"owner of the token of the request"`
	Seq     uint64    `json:"seq" doc:"number of the last event list"`
	At      time.Time `json:"at" doc:"when that was decided"`
	Now     time.Time `json:"now" doc:"the time here"`
}

func (s *Server) registerCell() {
	show(s, operation(http.MethodGet, "/v1/cell", "get-cell", "cell", "The cell, the version of the server and who the token's owner is"),
		func(ctx context.Context, _ *struct{ Reading }, at moment) (Cell, error) {
			return Cell{Name: s.options.Cell, Product: product.Name, Version: product.Version, User: accountOf(ctx).User(), Seq: at.state.Seq,
				At: at.state.At.Std().UTC(), Now: s.options.Now().UTC()}, nil
		})
	show(s, operation(http.MethodGet, "/v1/reservations/{id}", "get-reservation", "reservations", "An advance reservation, as qrstat -ar shows it"),
		func(_ context.Context, in *struct {
			Reading
			ID uint32 `path:"id" minimum:"1" doc:"number of the reservation"`
		}, at moment,
		) (document.Reservation, error) {
			v := at.view()
			found, unknown := v.ReservationsOf([]uint32{in.ID})
			if len(unknown) > 0 {
				return document.Reservation{}, problem(http.StatusNotFound, problemUnknown, "path.id", fmt.Sprintf("advance reservation %d does not exist", in.ID))
			}
			return slices.Collect(iter.Seq[document.Reservation](document.ReservationsOf(v, found, nil, true, true).ARs))[0], nil
		})
}
