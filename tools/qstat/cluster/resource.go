package cluster

import (
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Resource is what is there of one attribute of the complex. Level says who
// decides: g global, h host, q queue; Source where the value comes from: l
// load value, c consumable, f fixed.
type Resource struct {
	Centry        *grid.Centry
	Level, Source byte
	Number        float64 // for numeric types
	String        string  // for the others
}

// Dominance is the level and the source: "hl".
func (r Resource) Dominance() string { return string([]byte{r.Level, r.Source}) }

func (r Resource) label() string { return r.Dominance() + ":" + r.Centry.Name }

// Text prints the value as qstat -F does: counts as integers, memory with a
// multiplier, the rest with six digits.
func (r Resource) Text() string {
	if r.Centry.Type == "INT" {
		return strconv.FormatInt(int64(r.Number), 10)
	}
	return r.LongText()
}

// LongText prints the value as qhost -F does: counts with six digits too.
func (r Resource) LongText() string {
	switch {
	case !r.Centry.Type.Numeric():
		return r.String
	case r.Number >= grid.Infinity:
		return "infinity"
	case r.Centry.Type == "MEMORY":
		return Memory(r.Number, 3)
	case r.Centry.Type == "TIME":
		return grid.FormatTimeSpan(r.Number)
	}
	return strconv.FormatFloat(r.Number, 'f', 6, 64)
}

// Memory prints bytes with K, M, G or T behind: 6.000G.
func Memory(bytes float64, digits int) string {
	unit := ""
	for _, u := range []string{"K", "M", "G", "T"} {
		if bytes < 1024 {
			break
		}
		bytes, unit = bytes/1024, u
	}
	return strconv.FormatFloat(bytes, 'f', digits, 64) + unit
}

// resources is a list of resources with one entry for an attribute.
type resources struct {
	cluster *Cluster
	scaling grid.Values // of load values, host_conf(5)
	list    []Resource
}

// put adds a value written as text; used is what started tasks take of it.
// When the attribute has a value already the scarcer one stays, or for values
// without an order the new one, which stands nearer to the job.
func (rs *resources) put(level byte, source byte, name, text string, used float64) {
	centry := rs.cluster.Centry(name)
	if centry == nil {
		return
	}
	r := Resource{Centry: centry, Level: level, Source: source, String: text}
	if centry.Type.Numeric() {
		n, ok := centry.Type.Parse(text)
		if !ok {
			return
		}
		r.Number = n
		if source == 'l' {
			r.Number *= factor(rs.scaling, centry)
		}
		if r.Number < grid.Infinity {
			r.Number -= used
		}
	}
	i := slices.IndexFunc(rs.list, func(o Resource) bool { return o.Centry == centry })
	if i < 0 {
		rs.list = append(rs.list, r)
	} else if !centry.Type.Numeric() || r.Number == rs.list[i].Number || scarcer(centry.Relop, r.Number, rs.list[i].Number) {
		rs.list[i] = r
	}
}

func scarcer(op grid.Relop, a, b float64) bool {
	switch op {
	case "<=", "<":
		return a < b
	case ">=", ">":
		return a > b
	}
	return true
}

// complexValues adds the complex_values of a level.
func (rs *resources) complexValues(level byte, values grid.Values, used map[string]float64) {
	for _, v := range values {
		c, source := rs.cluster.Centry(v.Name), byte('f')
		if c == nil {
			continue
		}
		if consumable(c) {
			source = 'c'
		}
		rs.put(level, source, c.Name, v.Text, used[c.Name])
	}
}

func consumable(c *grid.Centry) bool {
	return strings.EqualFold(c.Consumable, "YES") || strings.EqualFold(c.Consumable, "JOB")
}

// derived are the load values per processor, in the order of load reports.
var derived = [...]string{"np_load_avg", "np_load_short", "np_load_medium", "np_load_long"}

// HostResources is what holds at a host: of the whole cluster, then its own
// load as reported and complex_values. Consumables are what is left of them.
func (c *Cluster) HostResources(host string) []Resource {
	return c.hostResources(host, c.used, nil).list
}

func (c *Cluster) hostResources(host string, used usage, scaling grid.Values) *resources {
	rs := &resources{cluster: c, scaling: scaling}
	if g := c.hosts[grid.GlobalHost]; g != nil {
		rs.complexValues('g', g.ComplexValues, used[grid.GlobalHost])
	}
	if host == grid.GlobalHost {
		return rs
	}
	if l := c.loads[host]; l != nil {
		for _, v := range l.Values {
			if l.Unheard && !lasting.Has(v.Name) {
				continue
			}
			rs.put('h', 'l', v.Name, v.Text, 0)
		}
		for _, name := range derived {
			if text, ok := c.Load(host, name); ok {
				rs.put('h', 'l', name, text, 0)
			}
		}
	}
	if h := c.hosts[host]; h != nil {
		rs.complexValues('h', h.ComplexValues, used[host])
	}
	return rs
}

// Resources is what holds for a job in the instance. Load is scaled as its
// host says, and consumables are what is left of them.
func (i *Instance) Resources() []Resource { return i.resources(i.cluster.used).list }

// Totals is Resources with consumables as if nothing ran.
func (i *Instance) Totals() []Resource { return i.resources(nil).list }

func (i *Instance) resources(used usage) *resources {
	rs := i.cluster.hostResources(i.Host, used, i.scaling())
	mine := used[i.Name()]
	rs.put('q', 'f', "qname", i.Queue, 0)
	rs.put('q', 'f', "hostname", i.Host, 0)
	rs.put('q', 'c', "slots", strconv.Itoa(i.Slots()), mine["slots"])
	for _, l := range queueLimits {
		rs.put('q', 'f', l.name, l.text(i), 0)
	}
	rs.complexValues('q', resolve(i, i.CQueue.ComplexValues), mine)
	return rs
}

// Resource is one of Resources.
func (i *Instance) Resource(name string) (Resource, bool) {
	for _, r := range i.Resources() {
		if r.Centry.Name == name {
			return r, true
		}
	}
	return Resource{}, false
}

// queueLimits are the queue attributes that are attributes of the complex too
// (complex(5)), in the order in which qstat -F prints them.
var queueLimits = []struct {
	name string
	text func(*Instance) string
}{
	{"tmpdir", func(i *Instance) string { return resolve(i, i.CQueue.TmpDir) }},
	{"seq_no", func(i *Instance) string { return strconv.Itoa(int(resolve(i, i.CQueue.SeqNo))) }},
	{"rerun", func(i *Instance) string { return strconv.FormatBool(resolve(i, i.CQueue.Rerun)) }},
	{"calendar", func(i *Instance) string { return orNone(resolve(i, i.CQueue.Calendar)) }},
	{"s_rt", func(i *Instance) string { return string(resolve(i, i.CQueue.SRT)) }},
	{"h_rt", func(i *Instance) string { return string(resolve(i, i.CQueue.HRT)) }},
	{"s_cpu", func(i *Instance) string { return string(resolve(i, i.CQueue.SCPU)) }},
	{"h_cpu", func(i *Instance) string { return string(resolve(i, i.CQueue.HCPU)) }},
	{"s_fsize", func(i *Instance) string { return string(resolve(i, i.CQueue.SFSize)) }},
	{"h_fsize", func(i *Instance) string { return string(resolve(i, i.CQueue.HFSize)) }},
	{"s_data", func(i *Instance) string { return string(resolve(i, i.CQueue.SData)) }},
	{"h_data", func(i *Instance) string { return string(resolve(i, i.CQueue.HData)) }},
	{"s_stack", func(i *Instance) string { return string(resolve(i, i.CQueue.SStack)) }},
	{"h_stack", func(i *Instance) string { return string(resolve(i, i.CQueue.HStack)) }},
	{"s_core", func(i *Instance) string { return string(resolve(i, i.CQueue.SCore)) }},
	{"h_core", func(i *Instance) string { return string(resolve(i, i.CQueue.HCore)) }},
	{"s_rss", func(i *Instance) string { return string(resolve(i, i.CQueue.SRSS)) }},
	{"h_rss", func(i *Instance) string { return string(resolve(i, i.CQueue.HRSS)) }},
	{"s_vmem", func(i *Instance) string { return string(resolve(i, i.CQueue.SVMem)) }},
	{"h_vmem", func(i *Instance) string { return string(resolve(i, i.CQueue.HVMem)) }},
	{"min_cpu_interval", func(i *Instance) string { return string(resolve(i, i.CQueue.MinCPUInterval)) }},
}

func orNone(s string) string {
	if s == "" {
		return "NONE"
	}
	return s
}
