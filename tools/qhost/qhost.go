package qhost

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/pkg/switches"
	"github.com/quill-grid/quill/tools/qstat/cluster"
)

type options struct {
	resources           bool // -F
	names               grid.Names
	hosts               grid.Names
	jobs, queues        bool
	requests            grid.Requests
	users               grid.Names
	noTopology, xmlForm bool
}

func command() *switches.Command[options] {
	return &switches.Command[options]{
		Name: "qhost", Usage: "[options]", Indent: 2, Column: 29,
		Unknown: func(word string) error {
			return &switches.Error{Text: "error: invalid option argument \"" + word + "\"", Help: true}
		},
		Switches: []switches.Switch[options]{
			{Name: "F", Args: "[resource_attribute]", Help: "show (selected) resources", Take: switches.Maybe,
				Set: func(o *options, w []string) error {
					o.resources = true
					for _, names := range w {
						o.names = append(o.names, switches.Names(names)...)
					}
					return nil
				}},
			{Name: "h", Args: "hostlist", Help: "display only selected hosts", Take: switches.Word,
				Set: switches.List(func(o *options) *grid.Names { return &o.hosts })},
			{Name: "help", Help: "print this help"},
			{Name: "j", Help: "display jobs hosted by host", Set: switches.Flag(func(o *options) *bool { return &o.jobs })},
			{Name: "l", Args: "attr=val,...", Help: "request the given resources", Take: switches.Word,
				Set: func(o *options, w []string) error {
					list, ok := switches.Requests(o.requests, w[0])
					if !ok {
						return switches.Errorf("error: wrong resource list format: %q", w[0])
					}
					o.requests = list
					return nil
				}},
			{Name: "ncb", Help: "suppress host topology based information", Set: switches.Flag(func(o *options) *bool { return &o.noTopology })},
			{Name: "q", Help: "display queues hosted by host", Set: switches.Flag(func(o *options) *bool { return &o.queues })},
			{Name: "u", Args: "user[,user,...]", Help: "show only jobs for user", Take: switches.Word,
				Set: func(o *options, w []string) error {
					o.jobs, o.users = true, append(o.users, switches.Names(w[0])...)
					return nil
				}},
			{Name: "xml", Help: "display the information in XML format", Set: switches.Flag(func(o *options) *bool { return &o.xmlForm })},
		},
	}
}

// App is the command for urfave/cli.
func App(env opt.Env) *cli.App { return opt.App(env, command(), show) }

// Run is the whole command; it returns the exit status.
func Run(env opt.Env, args []string) int { return opt.RunApp(env, App(env), args) }

// picture is everything that is shown.
type picture struct {
	*options
	cluster.Cluster
	jobs  map[uint32]*grid.Job
	tasks []*grid.JATask
	here  map[string][]*grid.JATask // started tasks by host
}

func show(ctx context.Context, env opt.Env, o *options) int {
	p := &picture{options: o, jobs: map[uint32]*grid.Job{}, here: map[string][]*grid.JATask{}}
	hosts, err := p.fetch(ctx, env)
	if err != nil {
		return env.Fail(err)
	}
	out := bufio.NewWriterSize(env.Stdout, 32<<10)
	if o.xmlForm {
		p.xml(out, hosts)
	} else {
		p.text(out, hosts)
	}
	if err := out.Flush(); err != nil {
		return env.Fail(err)
	}
	return 0
}

// fetch gets the cluster and returns the hosts to show.
func (p *picture) fetch(ctx context.Context, env opt.Env) ([]string, error) {
	c, err := env.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := p.collect(ctx, c); err != nil {
		return nil, err
	}
	for _, t := range p.tasks {
		p.Debit(p.jobs[t.Job], t)
		if j := p.jobs[t.Job]; !t.Started() || j == nil || !p.wanted(j) {
			continue
		}
		var last string
		for _, g := range t.Grants {
			if g.Host != last {
				p.here[g.Host] = append(p.here[g.Host], t)
			}
			last = g.Host
		}
	}
	return p.choose()
}

func (p *picture) collect(ctx context.Context, c client.Client) error {
	kinds := cluster.Kinds()
	if p.options.jobs || p.queues || p.resources {
		kinds = append(kinds, grid.KindJATask)
	}
	_, err := c.Get(ctx, gdi.Get{Kinds: kinds}, func(o grid.Object) error {
		if t, ok := o.(*grid.JATask); ok {
			p.tasks = append(p.tasks, t)
		}
		p.Add(o)
		return nil
	})
	if err != nil || len(p.tasks) == 0 {
		return err
	}
	// Only jobs that run somewhere are of interest, not a hundred thousand that
	// wait.
	var keys []grid.Key
	for _, t := range p.tasks {
		if n := len(keys); t.Started() && (n == 0 || keys[n-1].ID != t.Job) {
			keys = append(keys, grid.Key{ID: t.Job})
		}
	}
	if len(keys) == 0 {
		return nil
	}
	_, err = c.Get(ctx, gdi.Get{Kinds: []grid.Kind{grid.KindJob}, Where: gdi.Where{Keys: keys, Brief: true}}, func(o grid.Object) error {
		if j, ok := o.(*grid.Job); ok {
			p.jobs[j.ID] = j
		}
		return nil
	})
	return err
}

func (p *picture) wanted(j *grid.Job) bool {
	return len(p.users) == 0 || slices.ContainsFunc(p.users, func(u string) bool { return pattern.Match(u, j.Owner) })
}

// choose returns the hosts that -h and -l leave, global first when nothing is
// requested.
func (p *picture) choose() ([]string, error) {
	all := p.Hosts()
	for _, h := range p.hosts {
		if !slices.ContainsFunc(all, func(name string) bool { return pattern.Match(h, name) }) {
			return nil, fmt.Errorf("error: can't resolve hostname %q", h)
		}
	}
	for _, r := range p.requests {
		if p.Centry(r.Name) == nil {
			return nil, fmt.Errorf("error: unknown resource %q", r.Name)
		}
	}
	var hosts []string
	if p.HostSatisfies(grid.GlobalHost, p.requests) {
		hosts = append(hosts, grid.GlobalHost)
	}
	for _, name := range all {
		named := len(p.hosts) == 0 || slices.ContainsFunc(p.hosts, func(h string) bool { return pattern.Match(h, name) })
		if named && p.HostSatisfies(name, p.requests) {
			hosts = append(hosts, name)
		}
	}
	return hosts, nil
}

// column is a value of a host: its heading, its name in XML, its width (left
// adjusted when negative) and its text, empty when not known.
type column struct {
	head, name string
	width      int
	topology   bool
	text       func(*picture, string) string
}

var columns = []column{
	{"ARCH", "arch_string", -10, false, func(p *picture, h string) string { return p.value(h, "arch") }},
	{"NCPU", "num_proc", 6, false, func(p *picture, h string) string { return p.value(h, "num_proc") }},
	{"NSOC", "m_socket", 4, true, func(p *picture, h string) string { return p.value(h, "m_socket") }},
	{"NCOR", "m_core", 4, true, func(p *picture, h string) string { return p.value(h, "m_core") }},
	{"NTHR", "m_thread", 4, true, func(p *picture, h string) string { return p.value(h, "m_thread") }},
	{"LOAD", "load_avg", 5, false, func(p *picture, h string) string {
		v, ok := p.LoadNumber(h, "load_avg")
		if !ok {
			return "-"
		}
		return strconv.FormatFloat(v, 'f', 2, 64)
	}},
	{"MEMTOT", "mem_total", 7, false, func(p *picture, h string) string { return p.memory(h, "mem_total") }},
	{"MEMUSE", "mem_used", 7, false, func(p *picture, h string) string { return p.memory(h, "mem_used") }},
	{"SWAPTO", "swap_total", 7, false, func(p *picture, h string) string { return p.memory(h, "swap_total") }},
	{"SWAPUS", "swap_used", 7, false, func(p *picture, h string) string { return p.memory(h, "swap_used") }},
}

func (p *picture) shown() []column {
	if !p.noTopology {
		return columns
	}
	return slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return c.topology })
}

func (p *picture) value(host, name string) string {
	text, _ := p.Load(host, name)
	return cmp.Or(text, "-")
}

func (p *picture) memory(host, name string) string {
	v, ok := p.LoadNumber(host, name)
	if !ok {
		return "-"
	}
	return cluster.Memory(v, 1)
}

// resourcesOf are the resources that -F selects: all without names.
func (p *picture) resourcesOf(host string) []cluster.Resource {
	if !p.resources {
		return nil
	}
	return slices.DeleteFunc(p.HostResources(host), func(r cluster.Resource) bool {
		return len(p.names) > 0 && !slices.ContainsFunc(p.names, func(n string) bool { return p.Centry(n) == r.Centry })
	})
}

// instances are the queue instances of a host.
func (p *picture) instances(host string) []*cluster.Instance {
	return slices.DeleteFunc(slices.Clone(p.Instances()), func(i *cluster.Instance) bool { return i.Host != host })
}

// slot is one line of a job at a host.
type slot struct {
	job       *grid.Job
	task      *grid.JATask
	instance  string
	master    string
	continued bool // a further slot of the task in the same queue
}

// slots are the lines of the jobs in one queue instance, or in all of a host
// when instance is empty.
func (p *picture) slots(host, instance string) (out []slot) {
	for _, t := range p.here[host] {
		for n, g := range t.Grants {
			if g.Host != host || instance != "" && g.Instance() != instance {
				continue
			}
			lines, s := g.Slots, slot{p.jobs[t.Job], t, g.Instance(), "SLAVE", false}
			if n == 0 {
				s.master = "MASTER"
				if t.PE != "" && !p.JobIsFirstTask(t.PE) {
					lines++
				}
			}
			for ; lines > 0; lines-- {
				out = append(out, s)
				s.master, s.continued = "SLAVE", true
			}
		}
	}
	return out
}

func (s slot) letters() string {
	return grid.Display{Status: s.task.Status, State: s.task.State, Hold: s.job.Held(s.task.ID)}.Letters()
}
