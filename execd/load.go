package execd

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/quill-grid/quill/execd/core"
	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// sampler gathers load values and usage when the core asks.
type sampler struct {
	d       *daemon
	wake    chan struct{} // capacity 1
	done    chan struct{}
	sensors sensors

	processors int
	lastCPU    [2]uint64 // busy and all jiffies at the last sample

	mu     sync.Mutex
	wanted []string // load sensors
}

func newSampler(d *daemon) *sampler {
	s := &sampler{d: d, wake: make(chan struct{}, 1), done: make(chan struct{}), processors: d.Topology.Threads()}
	s.sensors.log, s.sensors.priority = d.Logger, d.priority
	return s
}

func (s *sampler) configure(c *core.Conf) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted = c.LoadSensors
}

// sensorList are the configured sensors and the one that an administrator puts
// beside the cell's commands, sge_conf(5) load_sensor.
func (s *sampler) sensorList() []string {
	s.mu.Lock()
	wanted := s.wanted
	s.mu.Unlock()
	own := filepath.Join(s.d.Root, "bin", Arch, "qloadsensor")
	if info, err := os.Stat(own); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 &&
		!slices.Contains(wanted, own) {
		wanted = append(slices.Clone(wanted), own)
	}
	return wanted
}

// requestSample has a sample taken, unless one is already due.
func (s *sampler) requestSample() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *sampler) run(ctx context.Context) {
	defer close(s.done)
	defer s.sensors.stopAll()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		}
		s.sensors.setPaths(s.sensorList())
		reported := s.sensors.askAll(ctx)
		in := core.Sampled{Load: s.measureLoad()}
		for _, t := range reported {
			switch {
			case t.host == grid.GlobalHost:
				in.Global = in.Global.With(t.name, t.value)
			case strings.EqualFold(t.host, s.d.Host):
				in.Load.Values = in.Load.Values.With(t.name, t.value)
			}
		}
		if text := s.sensors.faultText(); text != "" {
			in.Load.Values = in.Load.Values.With(grid.SensorTrouble, text)
		}
		divideByProcessors(in.Load)
		in.Usage = s.usageOfAttempts(ctx)
		s.d.sendInput(ctx, in)
	}
}

// usageOfAttempts asks the shepherd what its running jobs have used so far.
func (s *sampler) usageOfAttempts(ctx context.Context) []plan.Used {
	sh := s.d.batches.currentShepherd()
	if sh == nil {
		return nil
	}
	used, err := sh.Used(ctx)
	if err != nil {
		return nil
	}
	slices.SortFunc(used, func(a, b plan.Used) int { return a.Attempt.Compare(b.Attempt) })
	return used
}

// measureLoad reads the built-in load values, in Grid Engine's order.
func (s *sampler) measureLoad() *report.Load {
	l := &report.Load{Processors: uint32(s.processors), At: grid.TimeOf(time.Now())}
	add := func(name, text string) { l.Values = append(l.Values, grid.Value{Name: name, Text: text}) }
	number := func(name string, v float64) { add(name, strconv.FormatFloat(v, 'f', 6, 64)) }
	avg := parseLoadAverages(readFile("/proc/loadavg"))
	number("load_avg", avg[1])
	number("load_short", avg[0])
	number("load_medium", avg[1])
	number("load_long", avg[2])
	add("arch", Arch)
	add("num_proc", strconv.Itoa(s.processors))
	m := parseMeminfo(readFile("/proc/meminfo"))
	if s.d.MemoryBytes > 0 {
		m = memoryInfo{total: s.d.MemoryBytes, free: min(s.d.MemoryBytes, m.free)}
	}
	size := func(name string, bytes uint64) { add(name, fmt.Sprintf("%.6fM", float64(bytes)/(1<<20))) }
	size("mem_free", m.free)
	size("swap_free", m.swapFree)
	size("virtual_free", m.free+m.swapFree)
	size("mem_total", m.total)
	size("swap_total", m.swapTotal)
	size("virtual_total", m.total+m.swapTotal)
	size("mem_used", m.total-m.free)
	size("swap_used", m.swapTotal-m.swapFree)
	size("virtual_used", m.total-m.free+m.swapTotal-m.swapFree)
	number("cpu", s.cpuPercent(readFile("/proc/stat")))
	t := s.d.Topology
	add("m_topology", t.Classic(nil))
	add("m_topology_inuse", t.Classic(nil)) // the core knows
	add("m_topology_tree", t.Text(nil))
	add("m_numa_nodes", strconv.Itoa(t.Nodes()))
	add("m_socket", strconv.Itoa(t.Sockets()))
	add("m_core", strconv.Itoa(len(t.Cores)))
	add("m_thread", strconv.Itoa(t.Threads()))
	flag := func(name string, is bool) {
		if is {
			add(name, "1")
		} else {
			add(name, "0")
		}
	}
	flag("cgroup", s.d.batches.hasCgroups())
	flag("device_isolation", s.d.batches.closesDevices())
	return l
}

// divideByProcessors sets np_load_avg and its like from the load averages and
// num_proc, which a sensor may have overridden. As in Grid Engine, what a sensor
// reports as np_load_avg has no effect.
func divideByProcessors(l *report.Load) {
	text, _ := l.Values.Get("num_proc")
	if n, err := strconv.ParseUint(text, 10, 32); err == nil && n > 0 {
		l.Processors = uint32(n)
	}
	for _, name := range [...]string{"load_avg", "load_short", "load_medium", "load_long"} {
		if t, ok := l.Values.Get(name); ok {
			if n, err := strconv.ParseFloat(t, 64); err == nil {
				l.Values = l.Values.With("np_"+name, strconv.FormatFloat(n/float64(l.Processors), 'f', 6, 64))
			}
		}
	}
}

// cpuPercent is the share of time since the last call that was not idle.
func (s *sampler) cpuPercent(stat []byte) float64 {
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	fields := strings.Fields(string(line))
	var busy, all uint64
	for i := 1; i < len(fields) && i <= 8; i++ {
		n, _ := strconv.ParseUint(fields[i], 10, 64)
		all += n
		if i != 4 && i != 5 { // idle, iowait
			busy += n
		}
	}
	last := s.lastCPU
	s.lastCPU = [2]uint64{busy, all}
	if all <= last[1] || busy < last[0] {
		return 0
	}
	return 100 * float64(busy-last[0]) / float64(all-last[1])
}

func parseLoadAverages(data []byte) (avg [3]float64) {
	for i, f := range strings.Fields(string(data)) {
		if i < 3 {
			avg[i], _ = strconv.ParseFloat(f, 64)
		}
	}
	return avg
}

type memoryInfo struct{ total, free, swapTotal, swapFree uint64 }

// parseMeminfo reads /proc/meminfo; memory that the kernel would give up counts as
// free.
func parseMeminfo(data []byte) (m memoryInfo) {
	for line := range strings.Lines(string(data)) {
		name, rest, _ := strings.Cut(line, ":")
		kb, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		switch name {
		case "MemTotal":
			m.total = kb << 10
		case "MemAvailable":
			m.free = kb << 10
		case "SwapTotal":
			m.swapTotal = kb << 10
		case "SwapFree":
			m.swapFree = kb << 10
		}
	}
	m.free, m.swapFree = min(m.free, m.total), min(m.swapFree, m.swapTotal)
	return m
}

// readFile returns nothing for what cannot be read: a missing value is none.
func readFile(path string) []byte {
	data, _ := os.ReadFile(path)
	return data
}
