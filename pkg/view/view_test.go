package view_test

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/view"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// now is the moment at which rows are made.
const now grid.Time = 1795227000_000 // 2026-11-21 02:10:00 UTC

// cell is a small cell that a transcript describes.
type cell struct {
	t     *testing.T
	d     *datadriven.TestData
	state *state.State
}

func (c *cell) put(o grid.Object) {
	c.state.Apply(events.List{Events: []events.Event{events.Mod(o)}})
}

// TestTranscripts runs the files of testdata. What describes the cell:
//
//	complex, rqs      lines of qconf -sc, qconf -srqs
//	host NAME ...     and further hosts; queue, pe, hgroup, userset NAME: the input is lines of qconf
//	                  (a queue gets an instance on each host of its hostlist)
//	state QUEUE LETTERS [MESSAGE]   the stored states of an instance
//	load HOST processors=4 load_avg=0.10 ... [unheard]
//	job ID NAME=VALUE...            owner, name, l (a:b,c:d), pe (mpi:2), ar, ...
//	task JOB.TASK STATUS QUEUE=SLOTS...
//	ar ID STATE QUEUE=SLOTS...
//	found JOB NAME=VALUE..., info [CATEGORY jobs=(...)]    what the scheduler has found, and said
//
// What prints rows, a line each with the fields that have a value: queues,
// cluster-queues, hosts, resources, jobs, reasons, detail, summary, host-uses, reservations, quotas, waits,
// ahead.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		c := &cell{t: t, state: state.New()}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			c.t, c.d = t, d
			f, ok := steps[d.Cmd]
			if !ok {
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			return f(c)
		})
	})
}

var steps = map[string]func(*cell) string{
	"complex": func(c *cell) string {
		list, err := conf.ParseCentries(c.d.Input)
		c.must(err)
		for _, o := range list {
			c.put(o)
		}
		return ""
	},
	"host":    func(c *cell) string { return c.configure(grid.KindExecHost) },
	"pe":      func(c *cell) string { return c.configure(grid.KindPE) },
	"hgroup":  func(c *cell) string { return c.configure(grid.KindHGroup) },
	"userset": func(c *cell) string { return c.configure(grid.KindUserset) },
	"rqs": func(c *cell) string {
		sets, err := conf.ParseRQSs(c.d.Input)
		c.must(err)
		for _, o := range sets {
			c.put(o)
		}
		return ""
	},
	"queue":          (*cell).queue,
	"state":          (*cell).instanceState,
	"load":           (*cell).load,
	"job":            (*cell).job,
	"task":           (*cell).task,
	"ar":             (*cell).ar,
	"found":          (*cell).found,
	"info":           (*cell).info,
	"jobs":           (*cell).jobs,
	"reasons":        (*cell).reasons,
	"detail":         (*cell).detail,
	"summary":        func(c *cell) string { return print([]view.Summary{view.Of(c.state).Summary()}, nil) },
	"host-uses":      func(c *cell) string { return print(view.Of(c.state).HostUses(), nil) },
	"reservations":   (*cell).reservations,
	"quotas":         (*cell).quotas,
	"waits":          (*cell).waits,
	"ahead":          (*cell).ahead,
	"queues":         (*cell).queues,
	"cluster-queues": (*cell).clusterQueues,
	"resources":      (*cell).resources,
	"hosts":          (*cell).hosts,
}

func (c *cell) must(err error) {
	if err != nil {
		c.d.Fatalf(c.t, "%v", err)
	}
}

// words are the arguments without a value.
func (c *cell) words() (out []string) {
	for _, a := range c.d.CmdArgs {
		if len(a.Vals) == 0 {
			out = append(out, a.Key)
		}
	}
	return out
}

// values are the arguments with values: name=a or name=(a,b).
func (c *cell) values() (out [][2]string) {
	for _, a := range c.d.CmdArgs {
		if len(a.Vals) > 0 {
			out = append(out, [2]string{a.Key, strings.Join(a.Vals, ",")})
		}
	}
	return out
}

func (c *cell) names(key string) grid.Names {
	for _, a := range c.d.CmdArgs {
		if a.Key == key {
			return a.Vals
		}
	}
	return nil
}

// requests reads name:value,...
func (c *cell) requests(words grid.Names) (out grid.Requests) {
	for _, w := range words {
		name, value, _ := strings.Cut(w, ":")
		r := grid.Request{Name: name, Value: value}
		if a := c.state.Centry(name); a != nil {
			r.Num, _ = a.Type.Parse(value)
		}
		out = append(out, r)
	}
	return out
}

// configure adds objects, or changes attributes of those that exist.
func (c *cell) configure(kind grid.Kind) string {
	for _, name := range c.words() {
		o := c.state.Get(kind, grid.Key{Name: name})
		if o == nil {
			o = grid.Default(kind, name)
		}
		for line := range strings.Lines(c.d.Input) {
			attr, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			var err error
			o, err = conf.Set(o, attr, strings.TrimSpace(value))
			c.must(err)
		}
		c.put(o)
	}
	return ""
}

func (c *cell) queue() string {
	c.configure(grid.KindCQueue)
	for _, name := range c.words() {
		for _, host := range c.state.Hosts(c.state.CQueue(name).HostList) {
			if c.state.QInstance(name, host) == nil {
				c.put(&grid.QInstance{Queue: name, Host: host})
			}
		}
	}
	return ""
}

func (c *cell) instanceState() string {
	queue, host, _ := strings.Cut(c.d.CmdArgs[0].Key, "@")
	s, err := view.ParseQueueStates(c.d.CmdArgs[1].Key, "dDEosSC")
	c.must(err)
	c.put(&grid.QInstance{Queue: queue, Host: host, State: s, Message: c.d.Input})
	return ""
}

func (c *cell) load() string {
	l := &grid.Load{Host: c.words()[0], Unheard: c.d.HasArg("unheard")}
	for _, v := range c.values() {
		if v[0] == "processors" {
			l.Processors = uint32(c.number(v[1]))
			continue
		}
		l.Values = append(l.Values, grid.Value{Name: v[0], Text: v[1]})
	}
	c.put(l)
	return ""
}

func (c *cell) number(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	c.must(err)
	return n
}

// grants are the arguments like all.q@node1=2.
func (c *cell) grants() (out []grid.Grant) {
	for _, v := range c.values() {
		if queue, host, ok := strings.Cut(v[0], "@"); ok {
			out = append(out, grid.Grant{Queue: queue, Host: host, Slots: uint32(c.number(v[1]))})
		}
	}
	return out
}

func (c *cell) task() string {
	job, id, _ := strings.Cut(c.d.CmdArgs[0].Key, ".")
	t := &grid.JATask{Job: uint32(c.number(job)), ID: uint32(c.number(id)), Start: now - 30_000, Grants: c.grants()}
	switch c.d.CmdArgs[1].Key {
	case "running":
		t.Status, t.State = grid.Running, grid.StateRunning
	case "preempted":
		t.Status, t.State = grid.Running, grid.StateRunning|grid.StateSuspendedPreempted
	case "idle":
		t.State = grid.StateQueued | grid.StateWaiting
	default:
		c.d.Fatalf(c.t, "task: unknown status")
	}
	if j := c.state.Job(t.Job); j != nil {
		t.PE = j.PE
		left := *j
		left.Pending = j.Pending.Without(t.ID)
		c.put(&left)
	}
	c.put(t)
	return ""
}

func (c *cell) ar() string {
	states := map[string]grid.ARState{"waiting": grid.ARWaiting, "running": grid.ARRunning, "error": grid.ARError}
	c.put(&grid.AR{ID: uint32(c.number(c.d.CmdArgs[0].Key)), Owner: "alice", State: states[c.d.CmdArgs[1].Key],
		Start: now - 60_000, End: now + 3600_000,
		Duration: 3660, Grants: c.grants()})
	return ""
}

// reservations prints those of owners, or of some numbers.
func (c *cell) reservations() string {
	v, rows, out := view.Of(c.state), []view.Reservation(nil), ""
	if users := c.names("u"); users != nil {
		rows = v.Reservations(users)
	} else {
		var ids, unknown []uint32
		for _, w := range c.words() {
			ids = append(ids, uint32(c.number(w)))
		}
		rows, unknown = v.ReservationsOf(ids)
		out = fmt.Sprintf("unknown: %d\n", unknown)
	}
	return out + print(rows, nil)
}

// quotas prints the limits that are selected.
func (c *cell) quotas() string {
	f := view.QuotaFilter{Resources: c.names("l")}
	f.By[grid.QuotaUsers], f.By[grid.QuotaHosts] = c.names("u"), c.names("h")
	return print(view.Of(c.state).Quotas(f), nil)
}

func (c *cell) filter() view.QueueFilter {
	f := view.QueueFilter{Queues: c.names("q"), Requests: c.requests(c.names("l")), PEs: c.names("pe"),
		Users: c.names("U")}
	for _, letters := range c.names("qs") {
		s, err := view.ParseQueueStates(letters, "acdosuACDES")
		c.must(err)
		f.States = s
	}
	return f
}

func (c *cell) queues() string {
	load := "load_avg"
	if n := c.names("load"); n != nil {
		load = n[0]
	}
	rows, err := view.Of(c.state).Queues(c.filter(), load)
	return print(rows, err)
}

func (c *cell) clusterQueues() string {
	rows, err := view.Of(c.state).ClusterQueues(c.filter())
	return print(rows, err)
}

func (c *cell) hosts() string {
	rows, err := view.Of(c.state).Hosts(view.HostFilter{Hosts: c.names("h"), Requests: c.requests(c.names("l"))})
	return print(rows, err)
}

// resources prints those of a host or queue instance: resources all.q@node1 F=(a,b).
func (c *cell) resources() string {
	v, at := view.Of(c.state), c.d.CmdArgs[0].Key
	if !strings.Contains(at, "@") {
		return print(v.HostResources(at, c.names("F")), nil)
	}
	rows, err := v.Queues(view.QueueFilter{Queues: grid.Names{at}}, "")
	c.must(err)
	return print(v.QueueResources(&rows[0], c.names("F")), nil)
}

// print writes rows, a line each.
func print[T any](rows []T, err error) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(strings.Join(fields(reflect.ValueOf(r)), " ") + "\n")
	}
	switch {
	case errors.Is(err, view.ErrNone):
		b.WriteString("none of these queues\n")
	case err != nil:
		fmt.Fprintln(&b, err)
	case len(rows) == 0:
		b.WriteString("none\n")
	}
	return b.String()
}

// fields prints the exported fields of a row that have a value.
func fields(v reflect.Value) (out []string) {
	for i := range v.NumField() {
		f, of := v.Type().Field(i), v.Field(i)
		if f.IsExported() && !of.IsZero() {
			out = append(out, f.Name+"="+text(of))
		}
	}
	return out
}

func text(v reflect.Value) string {
	switch o := v.Interface().(type) {
	case grid.QueueState:
		return o.Letters()
	case grid.Time:
		return o.Std().Format("15:04:05")
	case grid.Names:
		return strings.Join(o, ",")
	case grid.Ranges:
		return o.String()
	case *grid.Job:
		return fmt.Sprint(o.ID)
	case []string:
		return strings.Join(o, "; ")
	case float64:
		return strconv.FormatFloat(o, 'f', -1, 64)
	}
	switch v.Kind() {
	case reflect.Pointer:
		return text(v.Elem())
	case reflect.Struct:
		return "{" + strings.Join(fields(v), " ") + "}"
	case reflect.Array, reflect.Slice:
		var out []string
		for i := range v.Len() {
			out = append(out, text(v.Index(i)))
		}
		return "[" + strings.Join(slices.Clip(out), " ") + "]"
	}
	return fmt.Sprint(v.Interface())
}
