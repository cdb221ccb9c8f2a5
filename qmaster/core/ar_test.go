package core

import (
	"fmt"
	"strings"

	"github.com/cockroachdb/datadriven"
	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// qrsub reads a reservation: a, e and d are seconds, the first two from now.
func (h *harness) qrsub(d *datadriven.TestData) string {
	a := &grid.AR{}
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "a":
			a.Start = h.now.Add(float64(h.number(arg.Vals[0])))
		case "e":
			a.End = h.now.Add(float64(h.number(arg.Vals[0])))
		case "d":
			a.Duration = uint32(h.number(arg.Vals[0]))
		case "l":
			for _, v := range arg.Vals {
				n, text, _ := strings.Cut(strings.ReplaceAll(v, ";", ","), ":")
				a.Hard = append(a.Hard, grid.Request{Name: n, Value: text})
			}
		case "units":
			a.Binding = &grid.Binding{Instance: grid.BindSet, Strategy: grid.BindPacked, Amount: uint32(h.number(arg.Vals[0])),
				Unit: arg.Vals[1], Type: grid.BindSlot}
		case "q":
			a.Queues = arg.Vals
		case "pe":
			a.PE, a.PERange = arg.Vals[0], h.ranges(arg.Vals[1])
		case "u":
			a.ACL = arg.Vals
		case "N":
			a.Name = arg.Vals[0]
		case "he":
			a.ErrorHandlingHard = true
		case "m":
			a.MailOptions = arg.Vals[0]
		case "M":
			a.MailTo = arg.Vals
		case "w":
			a.Verify = arg.Vals[0]
		}
	}
	return h.step(h.request(d, "qrsub", &gdi.Reserve{AR: a}))
}

func (h *harness) qrdel(d *datadriven.TestData) string {
	b := &gdi.DeleteARs{Refs: strings.Fields(d.Input), Force: d.HasArg("f")}
	for _, arg := range d.CmdArgs {
		if arg.Key == "u" {
			b.Users = arg.Vals
		}
	}
	return h.step(h.request(d, "qrdel", b))
}

// qrstat prints the reservations; times are seconds from now.
func (h *harness) qrstat() string {
	var b strings.Builder
	for _, a := range h.core.state.ARs() {
		fmt.Fprintf(&b, "%d %s %s %+v %+v", a.ID, a.Owner, a.State, a.Start.Sub(h.now), a.End.Sub(h.now))
		for _, g := range a.Grants {
			fmt.Fprintf(&b, " %s=%d", g.Instance(), g.Slots)
		}
		if a.GrantedPE != "" {
			b.WriteString(" pe=" + a.GrantedPE)
		}
		b.WriteByte('\n')
		for _, m := range a.Message {
			b.WriteString("  " + m + "\n")
		}
	}
	return b.String()
}

// set is qconf -rattr and, for what does not exist, an addition: lines of
// KIND NAME ATTRIBUTE VALUE.
func (h *harness) set(d *datadriven.TestData) string {
	var out strings.Builder
	for _, line := range strings.Split(d.Input, "\n") {
		f := strings.SplitN(line, " ", 4)
		kind := map[string]grid.Kind{"queue": grid.KindCQueue, "pe": grid.KindPE, "exechost": grid.KindExecHost,
			"userset":  grid.KindUserset,
			"calendar": grid.KindCalendar, "centry": grid.KindCentry, "sched_conf": grid.KindSchedConf}[f[0]]
		old := h.core.state.Get(kind, grid.Key{Name: f[1]})
		add := old == nil
		if add {
			old = grid.Default(kind, f[1])
		}
		var o grid.Object
		var err error
		if kind == grid.KindCentry { // a line of qconf -mc
			var list []*grid.Centry
			if list, err = conf.ParseCentries(strings.TrimPrefix(line, "centry ")); err == nil {
				o = list[0]
			}
		} else {
			o, err = conf.Set(old, f[2], f[3])
		}
		if err != nil {
			fmt.Fprintf(&out, "conf: %v\n", err)
			continue
		}
		grid.SetVersion(o, 0)
		var body gdi.Body = &gdi.Modify{Objects: []grid.Object{o}}
		if add {
			body = &gdi.Add{Objects: []grid.Object{o}}
		}
		out.WriteString(h.step(h.request(d, "qconf", body)))
	}
	return out.String()
}
