package execd

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// topology is what load_parameters(5) calls m_topology, m_socket, m_core and
// m_thread. Text spells sockets, cores and, where cores have several, threads:
// SCTTCTT.
type topology struct {
	text                   string
	socket, cores, threads int
}

// plainTopology is one socket with n cores.
func plainTopology(n int) topology {
	return topology{"S" + strings.Repeat("C", n), 1, n, n}
}

// readTopology reads sysfs below root, /sys/devices/system/cpu; when there is
// nothing to read every one of n processors is a core.
func readTopology(root string, n int) topology {
	type core struct{ socket, die, id int }
	threads := map[core]int{}
	dirs, _ := filepath.Glob(root + "/cpu[0-9]*/topology")
	for _, d := range dirs {
		socket, ok := readInt(d + "/physical_package_id")
		id, ok2 := readInt(d + "/core_id")
		if !ok || !ok2 {
			continue
		}
		die, _ := readInt(d + "/die_id")
		threads[core{socket, die, id}]++
	}
	if len(threads) == 0 {
		return plainTopology(n)
	}
	cores := make([]core, 0, len(threads))
	several := false
	for c, n := range threads {
		cores = append(cores, c)
		several = several || n > 1
	}
	slices.SortFunc(cores, func(a, b core) int {
		if a.socket != b.socket {
			return a.socket - b.socket
		}
		if a.die != b.die {
			return a.die - b.die
		}
		return a.id - b.id
	})
	var t topology
	var b strings.Builder
	for i, c := range cores {
		if i == 0 || c.socket != cores[i-1].socket {
			b.WriteByte('S')
			t.socket++
		}
		b.WriteByte('C')
		t.cores++
		t.threads += threads[c]
		if several {
			b.WriteString(strings.Repeat("T", threads[c]))
		}
	}
	t.text = b.String()
	return t
}

func readInt(file string) (int, bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	return n, err == nil
}
