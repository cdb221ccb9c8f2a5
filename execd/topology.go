package execd

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/pkg/topology"
)

// sysCPU is where the system describes its processors.
const sysCPU = "/sys/devices/system/cpu"

// readTopology reads sysfs below root for the processors that execd may use;
// one that is not described there is a core of the first socket.
func readTopology(root string, allowed []int) *topology.Machine {
	efficient := map[int]bool{}
	for _, p := range readList(filepath.Join(root, "../../cpu_atom/cpus")) {
		efficient[p] = true
	}
	cpus := make([]topology.CPU, len(allowed))
	for i, p := range allowed {
		dir := filepath.Join(root, "cpu"+strconv.Itoa(p))
		c := topology.CPU{Processor: p, Die: -1, Core: p, Node: -1, L3: -1, L2: -1, Efficient: efficient[p]}
		socket, ok := readInt(dir + "/topology/physical_package_id")
		core, ok2 := readInt(dir + "/topology/core_id")
		if ok && ok2 {
			c.Package, c.Core = socket, core
			c.Die, _ = readInt(dir + "/topology/die_id")
			c.Node = nodeOf(dir)
			c.L2, c.L3 = cacheOf(dir, 2), cacheOf(dir, 3)
		}
		cpus[i] = c
	}
	return topology.Build(cpus)
}

// nodeOf is the NUMA node of a processor, -1 where it has none.
func nodeOf(dir string) int {
	links, _ := filepath.Glob(dir + "/node[0-9]*")
	for _, l := range links {
		if n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(l), "node")); err == nil {
			return n
		}
	}
	return -1
}

// cacheOf is the first of the processors that share a cache of a level with one, -1 where there is none.
func cacheOf(dir string, level int) int {
	indexes, _ := filepath.Glob(dir + "/cache/index[0-9]*")
	for _, index := range indexes {
		if l, ok := readInt(index + "/level"); ok && l == level {
			if shared := readList(index + "/shared_cpu_list"); len(shared) > 0 {
				return shared[0]
			}
		}
	}
	return -1
}

// readList reads a list of processors: 0-3,8.
func readList(file string) (list []int) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	for _, word := range strings.Split(strings.TrimSpace(string(data)), ",") {
		from, to, ranged := strings.Cut(word, "-")
		first, err := strconv.Atoi(from)
		last := first
		if ranged && err == nil {
			last, err = strconv.Atoi(to)
		}
		if err != nil || last-first > 1<<16 {
			return nil
		}
		for p := first; p <= last; p++ {
			list = append(list, p)
		}
	}
	return list
}

// usableProcessors returns the processors that execd itself may run on.
func usableProcessors() (list []int) {
	var set unix.CPUSet
	if unix.SchedGetaffinity(os.Getpid(), &set) != nil {
		for p := range runtime.NumCPU() {
			set.Set(p)
		}
	}
	for p := 0; len(list) < set.Count(); p++ {
		if set.IsSet(p) {
			list = append(list, p)
		}
	}
	return list
}

func readInt(file string) (int, bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	return n, err == nil
}
