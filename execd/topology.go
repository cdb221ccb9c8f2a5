package execd

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/core"
	"github.com/quill-grid/quill/pkg/grid"
)

// sysCPU is where the system describes its processors.
const sysCPU = "/sys/devices/system/cpu"

// readTopology reads sysfs below root for the processors that execd may use;
// one that is not described there is a core of the first socket.
func readTopology(root string, allowed []int) core.Topology {
	type place struct{ socket, die, id int }
	threads := map[place][]int{}
	for _, p := range allowed {
		dir := filepath.Join(root, "cpu"+strconv.Itoa(p), "topology")
		socket, ok := readInt(dir + "/physical_package_id")
		id, ok2 := readInt(dir + "/core_id")
		if !ok || !ok2 {
			threads[place{die: -1, id: p}] = []int{p}
			continue
		}
		die, _ := readInt(dir + "/die_id")
		at := place{socket, die, id}
		threads[at] = append(threads[at], p)
	}
	places := make([]place, 0, len(threads))
	for at := range threads {
		places = append(places, at)
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.socket, b.socket), cmp.Compare(a.die, b.die), cmp.Compare(a.id, b.id))
	})
	var t core.Topology
	for i, at := range places {
		c := core.CPUCore{Processors: threads[at]}
		if i > 0 {
			c.CoreID = grid.CoreID{Socket: t[i-1].Socket, Core: t[i-1].Core + 1}
			if at.socket != places[i-1].socket {
				c.CoreID = grid.CoreID{Socket: t[i-1].Socket + 1}
			}
		}
		t = append(t, c)
	}
	return t
}

// usable are the processors that execd itself may run on.
func usable() (list []int) {
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
