package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/product"
	"github.com/quill-grid/quill/pkg/switches"
	"github.com/quill-grid/quill/pkg/view"
	"github.com/quill-grid/quill/tools/web/entry"
	"github.com/quill-grid/quill/tools/web/mirror"
	"github.com/quill-grid/quill/tools/web/problem"
)

func (s *handlers) registerListings() {
	registerListing(s, operation(http.MethodGet, "/v1/queues", "list-queues", "listings",
		"Queue instances, as qstat -f lists them"), listQueues)
	registerListing(s, operation(http.MethodGet, "/v1/hosts", "list-hosts", "listings",
		"Execution hosts, as qhost lists them"), listHosts)
	registerListing(s, operation(http.MethodGet, "/v1/quotas", "list-quotas", "listings",
		"Usage of resource quotas, as qquota lists it"), listQuotas)
	registerListing(s, operation(http.MethodGet, "/v1/reservations", "list-reservations", "reservations",
		"Advance reservations, as qrstat lists them"), listReservations)
}

// queueOrder is by name.
var queueOrder = ordering[*view.Queue, queueKey]{
	of: "queues",
	compare: func(a, b *view.Queue) int {
		return cmp.Or(cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Host, b.Host))
	},
	key: func(q *view.Queue) queueKey { return queueKey{q.Queue, q.Host} },
	row: func(k queueKey) *view.Queue { return &view.Queue{Queue: k.Queue, Host: k.Host} },
}

type queueKey struct {
	Queue string `json:"q"`
	Host  string `json:"h"`
}

func listQueues(_ context.Context, in *struct {
	Reading
	Paging
	Queue    []string `query:"queue" doc:"wildcard queues, as all.q@node1"`
	PE       []string `query:"pe" doc:"that offer one of these parallel environments"`
	Resource []string `query:"resource" doc:"that have so much of these resources, used or not, as of qstat -l" example:"arch=lx-amd64"`
	User     []string `query:"user" doc:"that admit one of these users"`
	State    string   `query:"state" doc:"in one of these states: letters of qstat -qs"`
}, at mirror.Moment, all bool,
) (rows[document.Queue], error) {
	states, err := view.ParseQueueStates(in.State, "aAcdDEosSCu")
	if err != nil {
		return rows[document.Queue]{}, problem.Invalid("query.state", err)
	}
	filter, err := queueFilter(in.Queue, in.PE, in.Resource, in.User)
	if err != nil {
		return rows[document.Queue]{}, err
	}
	filter.States = states
	queues, err := at.View().Queues(filter, "load_avg")
	none := (*view.NoneLeftError)(nil)
	switch {
	case errors.Is(err, view.ErrNone), errors.As(err, &none):
		queues = nil
	case err != nil:
		return rows[document.Queue]{}, badQueues(err)
	}
	kept, next, err := queueOrder.page(&in.Paging, all, pointers(queues))
	show := document.QueueShow{Messages: func(q *view.Queue) []string { return []string{q.Message} }}
	items := document.QueuesOf(show, document.JobShow{}, slices.Values(kept), nil, nil).Queues
	return rows[document.Queue]{items: iter.Seq[document.Queue](items), next: next}, err
}

// queueFilter selects queue instances as qstat does. The error is a problem.
func queueFilter(queues, pes, resources, users []string) (view.QueueFilter, error) {
	requests, ok := switches.Requests(nil, strings.Join(resources, ","))
	if !ok {
		return view.QueueFilter{},
			problem.Invalid("query.resource",
				fmt.Errorf("%q is no list of resources as of qstat -l", strings.Join(resources, ",")))
	}
	return view.QueueFilter{Queues: queues, PEs: pes, Requests: requests, Users: users}, nil
}

// badQueues is the problem of a filter of queue instances that names what there is not.
func badQueues(err error) error {
	if errors.Is(err, view.ErrPE) {
		return problem.Invalid("query.pe", err)
	}
	return problem.Invalid("query.resource", err)
}

// pointers returns the rows without copying them.
func pointers[T any](rows []T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for n := range rows {
			if !yield(&rows[n]) {
				return
			}
		}
	}
}

// hostOrder is by name, global first.
var hostOrder = ordering[view.Host, string]{
	of: "hosts",
	compare: func(a, b view.Host) int {
		if a, b := a.Name == grid.GlobalHost, b.Name == grid.GlobalHost; a != b {
			if a {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Name, b.Name)
	},
	key: func(h view.Host) string { return h.Name },
	row: func(name string) view.Host { return view.Host{Name: name} },
}

func listHosts(_ context.Context, in *struct {
	Reading
	Paging
	Host []string `query:"host" doc:"names, patterns"`
}, at mirror.Moment, all bool,
) (rows[document.Host], error) {
	hosts, err := at.View().Hosts(view.HostFilter{Hosts: in.Host})
	if err != nil {
		return rows[document.Host]{}, problem.Invalid("query.host", err)
	}
	kept, next, err := hostOrder.page(&in.Paging, all, slices.Values(hosts))
	items := document.HostsOf(kept, document.HostParts{Topology: true}).Hosts
	return rows[document.Host]{items: iter.Seq[document.Host](items), next: next}, err
}

// quotaOrder is that of sets and rules.
var quotaOrder = ordering[view.Quota, quotaKey]{
	of: "quotas",
	compare: func(a, b view.Quota) int {
		by := func(a, b grid.QuotaFilter) int { return slices.Compare(a.List, b.List) }
		return cmp.Or(cmp.Compare(a.Set, b.Set), cmp.Compare(a.Number, b.Number), slices.CompareFunc(a.By[:], b.By[:], by),
			cmp.Compare(a.Resource, b.Resource))
	},
	key: func(q view.Quota) quotaKey {
		k := quotaKey{Set: q.Set, Number: q.Number, Resource: q.Resource}
		for i, by := range q.By {
			k.By[i] = by.List
		}
		return k
	},
	row: func(k quotaKey) view.Quota {
		q := view.Quota{Set: k.Set, Number: k.Number, Resource: k.Resource}
		for i, names := range k.By {
			q.By[i].List = names
		}
		return q
	},
}

type quotaKey struct {
	Set      string                        `json:"s"`
	Number   int                           `json:"n"`
	By       [grid.QuotaFilters]grid.Names `json:"b"`
	Resource string                        `json:"r"`
}

func listQuotas(_ context.Context, in *struct {
	Reading
	Paging
	User     []string `query:"user" doc:"usage of these users"`
	Project  []string `query:"project" doc:"usage of these projects"`
	PE       []string `query:"pe" doc:"usage of these parallel environments"`
	Queue    []string `query:"queue" doc:"usage of these cluster queues"`
	Host     []string `query:"host" doc:"usage of these hosts"`
	Resource []string `query:"resource" doc:"only these attributes of the complex"`
}, at mirror.Moment, all bool,
) (rows[document.Quota], error) {
	f := view.QuotaFilter{Resources: in.Resource}
	f.By[grid.QuotaUsers], f.By[grid.QuotaProjects], f.By[grid.QuotaPEs] = in.User, in.Project, in.PE
	f.By[grid.QuotaQueues], f.By[grid.QuotaHosts] = in.Queue, in.Host
	kept, next, err := quotaOrder.page(&in.Paging, all, slices.Values(at.View().Quotas(f)))
	return rows[document.Quota]{items: iter.Seq[document.Quota](document.QuotasOf(kept).Usage), next: next}, err
}

// reservationOrder is by number.
var reservationOrder = ordering[view.Reservation, uint32]{
	of:      "reservations",
	compare: func(a, b view.Reservation) int { return cmp.Compare(a.ID, b.ID) },
	key:     func(r view.Reservation) uint32 { return r.ID },
	row:     func(id uint32) view.Reservation { return view.Reservation{ID: id} },
}

func listReservations(_ context.Context, in *struct {
	Reading
	Paging
	User []string `query:"user" doc:"owners: names, patterns; without it all"`
}, at mirror.Moment, all bool,
) (rows[document.Reservation], error) {
	if len(in.User) == 0 {
		in.User = []string{"*"}
	}
	v := at.View()
	kept, next, err := reservationOrder.page(&in.Paging, all, slices.Values(v.Reservations(in.User)))
	items := document.ReservationsOf(v, kept, nil, true, false).ARs
	return rows[document.Reservation]{items: iter.Seq[document.Reservation](items), next: next}, err
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
	// Leader and Streams are those of the present.
	Leader  string            `json:"leader,omitempty" doc:"host of the qmaster that leads; absent with at, and while it is not known"`
	Streams []document.Stream `json:"streams,omitempty" doc:"where the log and the recorded scheduling runs are stored; absent with at, and while qmaster does not say it"`
}

func (s *handlers) registerCell() {
	registerObject(s, operation(http.MethodGet, "/v1/cell", "get-cell", "cell",
		"The cell, the version of the server and who the token's owner is"),
		func(ctx context.Context, in *struct{ Reading }, at mirror.Moment) (Cell, error) {
			out := Cell{Name: s.options.Cell, Product: product.Name, Version: product.Version, User: entry.AccountOf(ctx).User(),
				Seq: at.State.Seq,
				At:  at.State.At.Std().UTC(), Now: s.options.Now().UTC()}
			if in.At == "" {
				out.Leader, out.Streams = s.leader(), document.StreamsOf(s.streams.get(ctx))
			}
			return out, nil
		})
	registerObject(s, operation(http.MethodGet, "/v1/reservations/{id}", "get-reservation", "reservations",
		"An advance reservation, as qrstat -ar shows it"),
		func(_ context.Context, in *struct {
			Reading
			ID uint32 `path:"id" minimum:"1" doc:"number of the reservation"`
		}, at mirror.Moment,
		) (document.Reservation, error) {
			v := at.View()
			found, unknown := v.ReservationsOf([]uint32{in.ID})
			if len(unknown) > 0 {
				return document.Reservation{}, problem.New(http.StatusNotFound, problem.TypeUnknown, "path.id",
					fmt.Sprintf("advance reservation %d does not exist", in.ID))
			}
			return slices.Collect(iter.Seq[document.Reservation](document.ReservationsOf(v, found, nil, true, true).ARs))[0], nil
		})
}
