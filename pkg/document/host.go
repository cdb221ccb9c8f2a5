package document

import (
	"iter"
	"time"

	"github.com/quill-grid/quill/pkg/view"
)

// Hosts is qhost.
type Hosts struct {
	Hosts Rows[Host] `json:"hosts" jsonschema:"the host global for the whole cluster, then execution hosts by name"`
}

// SchemaName returns qhost.
func (Hosts) SchemaName() string { return "qhost" }

// Host is an execution host. Values that the host has not reported are absent.
type Host struct {
	Name       string      `json:"name" jsonschema:"host name, or global"`
	Arch       string      `json:"arch_string,omitzero" jsonschema:"architecture"`
	Processors *int        `json:"num_proc,omitzero" jsonschema:"processors"`
	Sockets    *int        `json:"m_socket,omitzero" jsonschema:"sockets; absent with -ncb"`
	Cores      *int        `json:"m_core,omitzero" jsonschema:"cores; absent with -ncb"`
	Threads    *int        `json:"m_thread,omitzero" jsonschema:"threads; absent with -ncb"`
	Load       *float64    `json:"load_avg,omitzero" jsonschema:"load average"`
	MemTotal   *int64      `json:"mem_total,omitzero" jsonschema:"bytes"`
	MemUsed    *int64      `json:"mem_used,omitzero" jsonschema:"bytes"`
	SwapTotal  *int64      `json:"swap_total,omitzero" jsonschema:"bytes"`
	SwapUsed   *int64      `json:"swap_used,omitzero" jsonschema:"bytes"`
	Slots      *int        `json:"slots,omitzero" jsonschema:"with -slots: slots of its queue instances"`
	SlotsUsed  *int        `json:"slots_used,omitzero" jsonschema:"with -slots: slots of started tasks"`
	Sensors    string      `json:"load_sensor_trouble,omitzero" jsonschema:"load sensors that report nothing, and why"`
	Resources  []Resource  `json:"resources,omitzero" jsonschema:"with -F: attributes of the complex"`
	Queues     []HostQueue `json:"queues,omitzero" jsonschema:"with -q: queue instances"`
	Jobs       []HostJob   `json:"jobs,omitzero" jsonschema:"with -j or -u and without -q: slots of jobs that run on the host"`
}

// Resource is what there is of an attribute of the complex.
type Resource struct {
	Named
	Instances []string `json:"instances,omitzero" jsonschema:"of a resource map: the ids that are left"`
	Dominance string   `json:"dominance" jsonschema:"what decides the value: g cluster, h host or q queue instance; then l load, L scaled load, c consumable or f configured"`
}

// HostQueue is a queue instance of a host.
type HostQueue struct {
	Name     string    `json:"name" jsonschema:"cluster queue"`
	Type     string    `json:"qtype_string" jsonschema:"letters: B batch, I interactive, P parallel, C checkpointing; N none"`
	Reserved uint32    `json:"slots_resv" jsonschema:"slots held by running advance reservations"`
	Used     uint32    `json:"slots_used" jsonschema:"slots of started tasks"`
	Slots    uint32    `json:"slots" jsonschema:"all slots"`
	State    string    `json:"state_string" jsonschema:"letters of qstat(1), empty: none"`
	Jobs     []HostJob `json:"jobs,omitzero" jsonschema:"with -j or -u: slots of jobs that run in the queue instance"`
}

// HostJob is a slot of a started task.
type HostJob struct {
	ID       uint32    `json:"id" jsonschema:"job number"`
	TaskID   uint32    `json:"task_id,omitzero" jsonschema:"task of an array"`
	Priority float64   `json:"priority"`
	Name     string    `json:"job_name"`
	Owner    string    `json:"job_owner"`
	State    string    `json:"job_state" jsonschema:"letters of qstat(1)"`
	Start    time.Time `json:"start_time,omitzero" jsonschema:"of the task"`
	Role     string    `json:"pe_master" jsonschema:"MASTER or SLAVE"`
	Queue    string    `json:"queue_name" jsonschema:"queue@host"`
}

// HostParts are the rows of a host that options request; nil: not requested.
type HostParts struct {
	Topology  bool
	Slots     bool
	Resources func(host string) []view.Resource
	Queues    func(host string) []view.Queue
	InQueue   func(*view.Queue) iter.Seq[*view.Job]
	OnHost    func(host string) iter.Seq[*view.Job]
}

// HostsOf returns the document of some rows.
func HostsOf(rows []view.Host, parts HostParts) Hosts {
	return Hosts{Hosts: rowsOf(rows, parts.host)}
}

func (p HostParts) host(h view.Host) Host {
	out := Host{Name: h.Name, Arch: h.Arch, Processors: h.Processors, Load: known(h.Load), MemTotal: bytesOf(h.MemTotal),
		MemUsed:   bytesOf(h.MemUsed),
		SwapTotal: bytesOf(h.SwapTotal), SwapUsed: bytesOf(h.SwapUsed), Sensors: h.SensorTrouble}
	if p.Topology {
		out.Sockets, out.Cores, out.Threads = h.Sockets, h.Cores, h.Threads
	}
	if p.Slots {
		out.Slots, out.SlotsUsed = h.Slots, h.SlotsUsed
	}
	if p.Resources != nil {
		out.Resources = []Resource{}
		for _, r := range p.Resources(h.Name) {
			out.Resources = append(out.Resources, Resource{Named{r.Name, valueOf(r)}, r.Instances, r.Dominance})
		}
	}
	if p.Queues != nil {
		out.Queues = []HostQueue{}
		for _, q := range p.Queues(h.Name) {
			queue := HostQueue{Name: q.Queue, Type: q.Type, Reserved: q.Reserved, Used: q.Used, Slots: q.Slots,
				State: q.State.Letters()}
			if p.InQueue != nil {
				queue.Jobs = hostJobs(p.InQueue(&q))
			}
			out.Queues = append(out.Queues, queue)
		}
	} else if p.OnHost != nil {
		out.Jobs = hostJobs(p.OnHost(h.Name))
	}
	return out
}

func hostJobs(rows iter.Seq[*view.Job]) []HostJob {
	out := []HostJob{}
	for r := range rows {
		j := HostJob{ID: r.ID, Priority: r.Priority, Name: r.Name, Owner: r.Owner, State: r.State, Start: timeOf(r.At),
			Role: string(r.Role), Queue: r.Queue}
		if r.Tasks != nil {
			j.TaskID = r.Tasks.First()
		}
		out = append(out, j)
	}
	return out
}
