package gpu

import (
	"strings"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gpu"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// TestPlan checks what --apply would change on a host with the GPUs a and b, by the complex_values that the host has.
func TestPlan(t *testing.T) {
	const a, b = "[uuid=GPU-a,gpu_device=/dev/nvidia0]", "[uuid=GPU-b,gpu_device=/dev/nvidia1]"
	attribute := func(name, shortcut string, kind grid.CentryType) *grid.Centry {
		e := &grid.Centry{Name: name, Shortcut: shortcut, Type: kind, Relop: "==", Requestable: "YES", Consumable: "NO",
			Default: "NONE", Urgency: "0"}
		if kind == grid.TypeMap {
			e.Relop, e.Consumable = "<=", "YES"
		}
		return e
	}
	known := []*grid.Centry{attribute("gpu", "gpu", grid.TypeMap), attribute("uuid", "uuid", "STRING"),
		attribute("gpu_device", "gpu_device", "STRING"),
		attribute("gpu_memory", "gpu_memory", "MEMORY")}
	for _, c := range []struct {
		name    string
		complex []*grid.Centry
		present string // of gpu; "": none
		added   string
		value   string // "": the host is not changed
		dropped string
		err     string
	}{
		{name: "new cell", added: "gpu uuid gpu_device", value: "2(GPU0" + a + " GPU1" + b + ")"},
		{name: "new host", complex: known, value: "2(GPU0" + a + " GPU1" + b + ")"},
		{name: "one attribute is missing", complex: known[:2], added: "gpu_device", value: "2(GPU0" + a + " GPU1" + b + ")"},
		{name: "again", complex: known, present: "2(GPU0" + a + " GPU1" + b + ")"},
		{name: "again, in other words", complex: known,
			present: "2(GPU0[gpu_device=/dev/nvidia0,uuid=GPU-a]  GPU1" + b + ")"},
		{name: "without characteristics", complex: known, present: "2(GPU0 GPU1)", value: "2(GPU0" + a + " GPU1" + b + ")"},
		{name: "a GPU is lost, the others keep their ids", complex: known, present: "3(GPU0" + a +
			" GPU1[uuid=GPU-x] GPU2" + b + ")",
			value: "2(GPU0" + a + " GPU2" + b + ")", dropped: "GPU1"},
		{name: "a new GPU has an id that is free", complex: known, present: "1(GPU0" + b + ")", value: "2(GPU1" + a +
			" GPU0" + b + ")"},
		{name: "a GPU is exchanged", complex: known, present: "2(GPU0[uuid=GPU-x] GPU1" + b + ")", value: "2(GPU0" + a +
			" GPU1" + b + ")", dropped: "GPU0"},
		{name: "the site's ids, sharing and characteristics", complex: known,
			present: "3(red[uuid=GPU-b,gpu_memory=80G] red[uuid=GPU-b,gpu_memory=80G] blue[uuid=GPU-a,gpu_device=/dev/nvidia7])",
			value: "3(blue" + a +
				" red[uuid=GPU-b,gpu_device=/dev/nvidia1,gpu_memory=80G] red[uuid=GPU-b,gpu_device=/dev/nvidia1,gpu_memory=80G])"},
		{name: "MIG instances", complex: known, present: "3(GPU0[uuid=MIG-1] GPU0[uuid=MIG-1] GPU1" + b + ")",
			value: "4(GPU2" + a + " GPU1" + b + " GPU0[uuid=MIG-1] GPU0[uuid=MIG-1])"},
		{name: "another type", complex: []*grid.Centry{attribute("gpu", "gpu", "INT")}, present: "2",
			err: `denied: attribute "gpu" of the complex has the type INT, not RSMAP`},
		{name: "another type of a characteristic", complex: []*grid.Centry{known[0], attribute("uuid", "uuid", "INT")},
			err: `denied: attribute "uuid" of the complex has the type INT, not STRING`},
		{name: "a shortcut", complex: []*grid.Centry{attribute("graphics", "gpu", grid.TypeMap)},
			err: `denied: "gpu" is the shortcut of attribute "graphics" of the complex`},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := state.New()
			for _, e := range c.complex {
				st.Apply(events.List{Events: []events.Event{events.Listed(e)}})
			}
			host := &grid.ExecHost{
				Name: "node1", ComplexValues: grid.Values{{Name: "mem_total", Text: "64G"}, {Name: "slots", Text: "8"}}, Version: 3}
			if c.present != "" {
				host.ComplexValues = grid.Values{host.ComplexValues[0], {Name: "gpu", Text: c.present}, host.ComplexValues[1]}
			}
			gpus := []*gpu.GPU{
				{Address: "0000:03:00.0", Vendor: "nvidia", UUID: "GPU-a", NUMA: -1, Devices: []string{"/dev/nvidia0"}},
				{Address: "0000:04:00.0", Vendor: "nvidia", UUID: "GPU-b", NUMA: -1, Devices: []string{"/dev/nvidia1"}},
			}
			p, err := planOf(st, host, "gpu", gpus)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || !p.empty() {
					t.Errorf("changes %+v, error %v, expected %s", p.change, err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			check(t, p, c.added, c.value, c.dropped)
		})
	}
}

// check compares a plan with the names of the attributes that are added, the new value of gpu, and the ids that are
// dropped.
func check(t *testing.T, p plan, added, value, dropped string) {
	t.Helper()
	var names, ids []string
	got := ""
	for _, o := range p.change.Add {
		names = append(names, o.Key().Name)
	}
	for _, o := range p.change.Modify {
		h := o.(*grid.ExecHost)
		got, _ = h.ComplexValues.Get("gpu")
		memory, _ := h.ComplexValues.Get("mem_total")
		slots, _ := h.ComplexValues.Get("slots")
		if len(h.ComplexValues) != 3 || memory != "64G" || slots != "8" || h.Version != 3 {
			t.Errorf("the host is %+v", h)
		}
	}
	for _, in := range p.dropped {
		ids = append(ids, in.ID)
	}
	if strings.Join(names, " ") != added || got != value || strings.Join(ids, " ") != dropped {
		t.Errorf("adds %q, sets %q, drops %q; expected %q, %q, %q", names, got, ids, added, value, dropped)
	}
}

// TestOffer checks the offer of GPUs of which little is known, as they are when they are named.
func TestOffer(t *testing.T) {
	o := offerOf("gpu", []*gpu.GPU{{Address: "0000:03:00.0", NUMA: -1},
		{Address: "0000:03:00.0", NUMA: 1, Memory: 64 << 30, Model: "A (B), [C]=D"}}, nil)
	if want := "2(GPU0 GPU1[gpu_model=A__B____C__D,gpu_memory=68719476736,gpu_numa=1])"; o.value != want {
		t.Errorf("%s, expected %s", o.value, want)
	}
}
