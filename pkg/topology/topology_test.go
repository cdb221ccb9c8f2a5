package topology

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestTopology runs the transcripts. `host TEXT` parses a host for the commands after it; `cpus` builds one.
func TestTopology(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var h *Machine
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "host":
				next, err := Parse(d.CmdArgs[0].Key)
				if err != nil {
					return err.Error() + "\n"
				}
				h = next
				return describe(h)
			case "cpus":
				h = Build(cpus(t, d.Input))
				return describe(h)
			case "mask":
				s, ok := h.Mask(d.CmdArgs[0].Key)
				if !ok {
					return "of another host\n"
				}
				return fmt.Sprintf("%s %s, %d threads\n", h.Text(s), h.Classic(s), s.Len())
			case "count":
				return count(t, h, d)
			case "choose":
				return choose(t, h, d)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

func describe(h *Machine) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n%d sockets, %d NUMA nodes, %d cores, %d threads\n", h.Text(nil), h.Classic(nil), h.Sockets(),
		h.Nodes(), len(h.Cores), h.Threads())
	return b.String()
}

func cpus(t *testing.T, text string) (out []CPU) {
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		var c CPU
		kind := ""
		if _, err := fmt.Sscanf(line, "%d package=%d die=%d core=%d node=%d l3=%d l2=%d %s", &c.Processor, &c.Package, &c.Die,
			&c.Core, &c.Node, &c.L3, &c.L2, &kind); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		c.Efficient = kind == "efficient"
		out = append(out, c)
	}
	return out
}

// free is what the argument used= leaves of the host.
func free(t *testing.T, h *Machine, d *datadriven.TestData) Set {
	var used string
	d.MaybeScanArgs(t, "used", &used)
	if used == "" {
		return h.All()
	}
	s, ok := h.Mask(used)
	if !ok {
		t.Fatalf("%s is of another host", used)
	}
	return h.All().Minus(s)
}

func count(t *testing.T, h *Machine, d *datadriven.TestData) string {
	left := free(t, h, d)
	var b strings.Builder
	for _, a := range d.CmdArgs {
		if len(a.Vals) > 0 {
			continue
		}
		u, ok := ParseUnit(a.Key)
		if !ok {
			fmt.Fprintf(&b, "%s: no unit\n", a.Key)
			continue
		}
		fmt.Fprintf(&b, "%s: %d of %d free, %d threads each\n", a.Key, h.Count(u, left), h.Units(u), h.Size(u))
	}
	return b.String()
}

func choose(t *testing.T, h *Machine, d *datadriven.TestData) string {
	var name string
	amount := 1
	d.ScanArgs(t, "unit", &name)
	d.MaybeScanArgs(t, "amount", &amount)
	u, ok := ParseUnit(name)
	if !ok {
		t.Fatalf("no unit: %s", name)
	}
	var devices []Device
	for _, a := range d.CmdArgs {
		if a.Key != "near" {
			continue
		}
		for _, v := range a.Vals {
			if n, err := strconv.Atoi(v); err == nil {
				devices = append(devices, Device{Node: n})
				continue
			}
			not, ok := h.Mask(v)
			if !ok {
				t.Fatalf("%s is of another host", v)
			}
			devices = append(devices, Device{Near: h.All().Minus(not)})
		}
	}
	s, cost, ok := h.Choose(u, amount, free(t, h, d), devices)
	if !ok {
		return "too few\n"
	}
	return fmt.Sprintf("%s distance %d\n", h.Text(s), cost)
}

// TestSpellings holds that both spellings of every set are read back as the set.
func TestSpellings(t *testing.T) {
	for _, text := range []string{"SCC", "SCTTCTT", "NSXYCTTYCTTNSXYCTTYCTT", "SNXYCYCNXYCYC", "NSXYCTTYCTTYEEYEE"} {
		h, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.Text(nil); got != text {
			t.Errorf("%s is written %s", text, got)
		}
		for bits := range 1 << h.Threads() {
			s := NewSet(h.Threads())
			for i := range h.Threads() {
				if bits&(1<<i) != 0 {
					s.add(i, i+1)
				}
			}
			for _, spelling := range []string{h.Text(s), h.Classic(s)} {
				if got, ok := h.Mask(spelling); !ok || got.Len() != s.Len() || !got.within(s) {
					t.Fatalf("%s of %s is read as %v", spelling, text, got)
				}
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("NSXYCTTYCTTYEEYEE", "nsxyc")
	f.Fuzz(func(t *testing.T, text, mask string) {
		h, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(h.Text(nil))
		if err != nil || again.Text(nil) != h.Text(nil) {
			t.Fatalf("%q is written %q and read as %v", text, h.Text(nil), err)
		}
		h.Mask(mask)
	})
}
