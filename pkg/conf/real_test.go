package conf_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/grid"
)

// TestRealTexts reads what Grid Engine 8.1.9 printed and prints the same.
func TestRealTexts(t *testing.T) {
	kinds := map[string]grid.Object{
		"calendar": &grid.Calendar{}, "ckpt": &grid.Ckpt{}, "conf": &grid.Conf{Host: grid.GlobalConf},
		"cqueue": &grid.CQueue{}, "hgroup": &grid.HGroup{}, "pe": &grid.PE{}, "project": &grid.Project{},
		"rqs": &grid.RQS{}, "schedconf": &grid.SchedConf{}, "user": &grid.User{}, "userset": &grid.Userset{},
	}
	files, err := filepath.Glob("testdata/real/*.txt")
	if err != nil || len(files) < 15 {
		t.Fatal("texts are missing", files, err)
	}
	for _, f := range files {
		base := strings.TrimSuffix(filepath.Base(f), ".txt")
		stem, _, _ := strings.Cut(base, "-")
		o := kinds[stem]
		if o == nil || base == "rqs-two" {
			continue // their own tests below
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := conf.Parse(string(text), o); err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		style := conf.Style{SingleLine: strings.HasSuffix(base, "single-line")}
		if d := cmp.Diff(string(text), style.Format(o)); d != "" {
			t.Errorf("%s: %s", f, d)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata/real", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRealComplex(t *testing.T) {
	text := read(t, "centries.txt")
	list, err := conf.ParseCentries(text)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(text, conf.FormatCentries(list)); d != "" {
		t.Error(d)
	}
}

func TestRealQuotas(t *testing.T) {
	text := read(t, "rqs-two.txt")
	list, err := conf.ParseRQSs(text)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(text, conf.FormatRQSs(list)); d != "" {
		t.Error(d)
	}
	if got := list[0].Limits[1]; got !=
		"users alice,bob projects ccproject queues all.q hosts {@allhosts} to slots=10,mem_free=10G" {
		t.Errorf("rule %q", got)
	}
}

func TestRealExecHost(t *testing.T) {
	load := &grid.Load{Processors: 2}
	for _, v := range strings.Split("load_avg=0.10,load_short=0.10,load_medium=0.10,load_long=0.10,arch=lx-amd64,num_proc=4,"+
		"mem_free=6G,swap_free=0.000000M,virtual_free=6G,mem_total=8G,swap_total=0.000000M,virtual_total=8G,mem_used=2G,"+
		"swap_used=0.000000M,virtual_used=2G,cpu=3.0,m_topology=SCC,m_topology_inuse=SCC,m_socket=1,m_core=4,m_thread=4,"+
		"np_load_avg=0.025000,np_load_short=0.025000,np_load_medium=0.025000,np_load_long=0.025000", ",") {
		name, text, _ := strings.Cut(v, "=")
		load.Values = append(load.Values, grid.Value{Name: name, Text: text})
	}
	if d := cmp.Diff(read(t, "exechost-load.txt"), conf.Style{}.FormatExecHost(grid.DefaultExecHost("node1"), load)); d !=
		"" {
		t.Error(d)
	}
	global := grid.DefaultExecHost(grid.GlobalHost)
	global.ComplexValues = grid.Values{{Name: "license", Text: "5"}}
	if d := cmp.Diff(read(t, "exechost-global.txt"), conf.Style{}.FormatExecHost(global, nil)); d != "" {
		t.Error(d)
	}
}

// TestDefaults holds the objects of a fresh cell against the templates that
// Grid Engine offers.
func TestDefaults(t *testing.T) {
	q := grid.DefaultCQueue("all.q")
	q.HostList = grid.Names{"@allhosts"}
	q.PEList.Value = grid.Names{"make", "smp", "mpi"}
	q.Slots = grid.PerHost[int32]{Value: 3, At: []grid.At[int32]{{Target: "node1", Value: 3}, {Target: "node2", Value: 2},
		{Target: "node3", Value: 2}}}
	if d := cmp.Diff(read(t, "cqueue-all.txt"), conf.Format(q)); d != "" {
		t.Error(d)
	}
	for _, o := range grid.FreshCell() {
		if p, ok := o.(*grid.PE); ok {
			if d := cmp.Diff(read(t, "pe-make.txt"), conf.Format(p)); d != "" {
				t.Error(d)
			}
		}
	}
	var shipped []*grid.Centry
	for _, c := range grid.DefaultCentries() {
		if grid.OwnCentries.Has(c.Name) {
			continue
		}
		if c.Name == "load_avg" {
			shipped = append(shipped, &grid.Centry{Name: "license", Shortcut: "lic", Type: "INT", Relop: "<=",
				Requestable: "YES",
				Consumable:  "YES", Default: "0", Urgency: "1000"})
		}
		shipped = append(shipped, c)
	}
	if d := cmp.Diff(read(t, "centries.txt"), conf.FormatCentries(shipped)); d != "" {
		t.Error(d)
	}
}
