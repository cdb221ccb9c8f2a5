package sched

import (
	"testing"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// What Grid Engine 8.1.9 writes into the accounting file for the same requests.
func TestAccountedCategory(t *testing.T) {
	st := state.New()
	c := NewCluster(st)
	c.settle()
	c.site.Complex = complex.New([]*grid.Centry{
		{Name: "arch", Shortcut: "a", Type: "STRING", Relop: "==", Requestable: "YES", Consumable: "NO"},
		{Name: "h_rt", Shortcut: "h_rt", Type: "TIME", Relop: "<=", Requestable: "YES", Consumable: "NO"},
		{Name: "mem_free", Shortcut: "mf", Type: "MEMORY", Relop: "<=", Requestable: "YES", Consumable: "NO"},
	})
	slots := func(first, last, step uint32) grid.Range { return grid.Range{First: first, Last: last, Step: step} }
	asks := func(requests ...grid.Request) grid.Requests {
		out, err := c.site.Complex.Normalise(requests)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for want, r := range map[string]grid.JobRequest{
		"": {},
		"-l arch=lx*,h_rt=60,mem_free=1G": {Hard: asks(grid.Request{Name: "h_rt", Value: "0:1:0"},
			grid.Request{Name: "mf", Value: "1G"}, grid.Request{Name: "a", Value: "lx*"})},
		"-l h_rt=INFINITY":     {Hard: asks(grid.Request{Name: "h_rt", Value: "INFINITY"})},
		"-pe smp 2":            {PE: "smp", PERange: grid.Ranges{slots(2, 2, 1)}},
		"-pe smp 2-4":          {PE: "smp", PERange: grid.Ranges{slots(2, 4, 1)}},
		"-pe smp 1,2":          {PE: "smp", PERange: grid.Ranges{slots(1, 2, 1)}},
		"-pe smp 2,4":          {PE: "smp", PERange: grid.Ranges{slots(2, 2, 1), slots(4, 4, 1)}},
		"-pe smp 1-9999999":    {PE: "smp", PERange: grid.Ranges{slots(1, grid.Open, 1)}},
		"-q all.q,all.q@node1": {HardQueues: grid.Names{"all.q", "all.q@node1"}},
		"-q a -masterq b -l h_rt=100 -soft -l arch=x -pe smp 2 -ckpt ck": {HardQueues: grid.Names{"a"},
			MasterQueues: grid.Names{"b"},
			Hard:         asks(grid.Request{Name: "h_rt", Value: "100"}), Soft: asks(grid.Request{Name: "a", Value: "x"}),
			PE: "smp", PERange: grid.Ranges{slots(2, 2, 1)}, Ckpt: "ck"},
	} {
		if got := c.AccountedCategory(&grid.Job{JobRequest: &r}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
