package resources

import (
	"bufio"
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/switches"
	"github.com/quill-grid/quill/pkg/view"
)

type hostOptions struct {
	resources    bool // -F
	names        grid.Names
	hosts        grid.Names
	jobs, queues bool
	slots        bool
	requests     grid.Requests
	users        grid.Names
	noTopology   bool
	format       switches.Format
}

var addNames = switches.List(func(o *hostOptions) *grid.Names { return &o.names })

func hostFormat(o *hostOptions) *switches.Format { return &o.format }

func hostCommand() *switches.Command[hostOptions] {
	return &switches.Command[hostOptions]{
		Name: "qhost", Usage: "[options]", Indent: 2, Column: 29,
		Unknown: func(word string) error {
			return &switches.Error{Text: "error: invalid option argument \"" + word + "\"", Help: true}
		},
		Switches: []switches.Switch[hostOptions]{
			{Name: "F", Args: "[resource_attribute]", Help: "show (selected) resources", Take: switches.Maybe,
				Set: func(o *hostOptions, w []string) error {
					o.resources = true
					return addNames(o, w)
				}},
			switches.Fmt(hostFormat),
			{Name: "h", Args: "hostlist", Help: "display only selected hosts", Take: switches.Word,
				Set: switches.List(func(o *hostOptions) *grid.Names { return &o.hosts })},
			{Name: "help", Help: "print this help"},
			{Name: "j", Help: "display jobs hosted by host", Set: switches.Flag(func(o *hostOptions) *bool { return &o.jobs })},
			{Name: "l", Args: "attr=val,...", Help: "request the given resources", Take: switches.Word,
				Set: func(o *hostOptions, w []string) error {
					list, ok := switches.Requests(o.requests, w[0])
					if !ok {
						return switches.Errorf("error: wrong resource list format: %q", w[0])
					}
					o.requests = list
					return nil
				}},
			{Name: "ncb", Help: "suppress host topology based information",
				Set: switches.Flag(func(o *hostOptions) *bool { return &o.noTopology })},
			{Name: "q", Help: "display queues hosted by host",
				Set: switches.Flag(func(o *hostOptions) *bool { return &o.queues })},
			{Name: "slots", Help: "display slots in use and in all",
				Set: switches.Flag(func(o *hostOptions) *bool { return &o.slots })},
			{Name: "u", Args: "user[,user,...]", Help: "show only jobs for user", Take: switches.Word,
				Set: func(o *hostOptions, w []string) error {
					o.jobs, o.users = true, append(o.users, switches.Names(w[0])...)
					return nil
				}},
			switches.XML(hostFormat),
		},
	}
}

// RunQhost is qhost(1): it lists execution hosts with their load, queues, jobs and resources. It returns the exit
// status.
func RunQhost(env opt.Env, args []string) int {
	return opt.RunApp(env, opt.App(env, hostCommand(), showHosts), args)
}

// hostListing is everything that is shown.
type hostListing struct {
	*hostOptions
	state     *state.State
	view      *view.View
	list      *view.Jobs              // with a row for each slot
	instances map[string][]view.Queue // -q, by host
}

func showHosts(ctx context.Context, env opt.Env, o *hostOptions) int {
	p := &hostListing{hostOptions: o, instances: map[string][]view.Queue{}}
	hosts, err := p.fetch(ctx, env)
	if err != nil {
		return env.Fail(err)
	}
	if o.format.JSON() {
		return env.Document(p.document(hosts))
	}
	out := bufio.NewWriterSize(env.Stdout, 32<<10)
	switch {
	case o.format.XML():
		p.xml(out, hosts)
	default:
		p.text(out, hosts)
	}
	if err := out.Flush(); err != nil {
		return env.Fail(err)
	}
	return 0
}

// document returns hosts with what the options request.
func (p *hostListing) document(hosts []view.Host) document.Hosts {
	parts := document.HostParts{Topology: !p.noTopology, Slots: p.slots}
	if p.resources {
		parts.Resources = p.resourcesOf
	}
	if p.queues {
		parts.Queues = func(host string) []view.Queue { return p.instances[host] }
	}
	if p.jobs {
		parts.InQueue, parts.OnHost = p.inQueue, p.onHost
	}
	return document.HostsOf(hosts, parts)
}

// fetch gets the cluster and returns the hosts to show.
func (p *hostListing) fetch(ctx context.Context, env opt.Env) ([]view.Host, error) {
	c, err := env.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := p.collect(ctx, c); err != nil {
		return nil, err
	}
	p.view = view.Of(p.state)
	filter := view.JobFilter{Users: p.users, States: view.JobsRunning | view.JobsSuspended}
	if p.list, err = p.view.Jobs(grid.TimeOf(env.Now()), filter, view.JobShow{PerSlot: true}); err != nil {
		return nil, err
	}
	if p.queues {
		queues, err := p.view.Queues(view.QueueFilter{}, "")
		if err != nil {
			return nil, err
		}
		for _, q := range queues {
			p.instances[q.Host] = append(p.instances[q.Host], q)
		}
	}
	return p.view.Hosts(view.HostFilter{Hosts: p.hosts, Requests: p.requests})
}

func (p *hostListing) collect(ctx context.Context, c client.Client) (err error) {
	kinds := view.ClusterKinds()
	if p.jobs || p.queues || p.resources || p.slots {
		kinds = append(kinds, grid.KindJATask)
	}
	if p.state, err = client.Fetch(ctx, c, gdi.Get{Kinds: kinds}); err != nil {
		return err
	}
	return client.FetchRunning(ctx, c, p.state)
}

// hostColumn is a value of a host: its heading, its name in XML, its width (left
// adjusted when negative), when it is shown and its text.
type hostColumn struct {
	head, name string
	width      int
	when       func(*hostOptions) bool // nil: always
	text       func(*view.Host) string
}

func withTopology(o *hostOptions) bool { return !o.noTopology }
func withSlots(o *hostOptions) bool    { return o.slots }

var hostColumns = []hostColumn{
	{"ARCH", "arch_string", -10, nil, func(h *view.Host) string { return cmp.Or(h.Arch, "-") }},
	{"NCPU", "num_proc", 6, nil, func(h *view.Host) string { return count(h.Processors) }},
	{"NSOC", "m_socket", 4, withTopology, func(h *view.Host) string { return count(h.Sockets) }},
	{"NCOR", "m_core", 4, withTopology, func(h *view.Host) string { return count(h.Cores) }},
	{"NTHR", "m_thread", 4, withTopology, func(h *view.Host) string { return count(h.Threads) }},
	{"LOAD", "load_avg", 5, nil, func(h *view.Host) string {
		if h.Load == nil {
			return "-"
		}
		return strconv.FormatFloat(*h.Load, 'f', 2, 64)
	}},
	{"MEMTOT", "mem_total", 7, nil, func(h *view.Host) string { return memory(h.MemTotal) }},
	{"MEMUSE", "mem_used", 7, nil, func(h *view.Host) string { return memory(h.MemUsed) }},
	{"SWAPTO", "swap_total", 7, nil, func(h *view.Host) string { return memory(h.SwapTotal) }},
	{"SWAPUS", "swap_used", 7, nil, func(h *view.Host) string { return memory(h.SwapUsed) }},
	{"SLOTS", "slots", 6, withSlots, func(h *view.Host) string { return count(h.Slots) }},
	{"USED", "slots_used", 6, withSlots, func(h *view.Host) string { return count(h.SlotsUsed) }},
}

func count(n *int) string {
	if n == nil {
		return "-"
	}
	return strconv.Itoa(*n)
}

func memory(bytes *float64) string {
	if bytes == nil {
		return "-"
	}
	return view.Memory(*bytes, 1)
}

func (p *hostListing) shown() []hostColumn {
	return slices.DeleteFunc(slices.Clone(hostColumns), func(c hostColumn) bool {
		return c.when != nil && !c.when(p.hostOptions)
	})
}

// resourcesOf are the resources that -F selects: all without names.
func (p *hostListing) resourcesOf(host string) []view.Resource {
	if !p.resources {
		return nil
	}
	return p.view.HostResources(host, p.names)
}
