package sched

import (
	"fmt"
	"strings"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// BenchmarkDevices is what a start on a host with eight GPUs costs in a cell with 10,000 ports, which are no devices.
func BenchmarkDevices(b *testing.B) {
	st := state.New()
	gpus := "gpu=8("
	for i := range 8 {
		gpus += fmt.Sprintf("GPU%d[devices=/dev/nvidia%d:rw;/dev/nvidiactl:rw] ", i, i)
	}
	attribute := func(name string, kind grid.CentryType, relop grid.Relop, consumable string) grid.Object {
		return &grid.Centry{Name: name, Shortcut: name, Type: kind, Relop: relop, Requestable: "YES",
			Consumable: consumable, Default: "0"}
	}
	values := func(name, value string) grid.Values { return grid.Values{{Name: name, Text: value[len(name)+1:]}} }
	queue := grid.Default(grid.KindCQueue, "q").(*grid.CQueue)
	queue.HostList = grid.Names{"h"}
	for _, o := range []grid.Object{
		attribute("devices", "STRING", "==", "NO"), attribute("gpu", "RSMAP", "<=", "YES"),
		attribute("port", "RSMAP", "<=", "YES"),
		&grid.ExecHost{Name: grid.GlobalHost, ComplexValues: values("port", "port=10000(50000-59999)")},
		&grid.ExecHost{Name: "h", ComplexValues: values("gpu", strings.TrimSpace(gpus)+")")},
		queue, &grid.QInstance{Queue: "q", Host: "h"},
	} {
		st.Apply(events.List{Events: []events.Event{events.Add(o)}})
	}
	c := NewCluster(st)
	maps := []grid.MapGrant{{Resource: "gpu", Host: "h", IDs: []string{"GPU3"}}}
	if got := c.Devices("h", maps); len(got) != 9 || got[6].Path != "/dev/nvidia5" || got[6].Access != 0 ||
		got[4].Access == 0 {
		b.Fatalf("devices %v", got)
	}
	for b.Loop() {
		c.Devices("h", maps)
	}
}
