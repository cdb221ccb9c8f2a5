package execd

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// The load value cgroup says whether jobs get control groups. Where they could have some and do not, execd says once what is
// not enforced.
func TestHostSaysWhetherItContainsJobs(t *testing.T) {
	m := newMachine(t)
	log, err := os.Create(filepath.Join(m.out, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cgroup := func(want string) {
		t.Helper()
		m.q.wait("load value cgroup="+want, func() bool {
			if len(m.q.loads) == 0 {
				return false
			}
			is, _ := m.q.loads[len(m.q.loads)-1].Load.Values.Get("cgroup")
			return is == want
		})
	}
	restart := func(groups func(string) (string, error)) {
		m.halt()
		m.q.set(func() { m.q.loads = nil })
		m.log, m.groups = log, groups
		m.start()
	}
	restart(func(name string) (string, error) { return "/made-up/" + name, nil })
	cgroup("1")
	m.q.commands <- report.Command{Epoch: 1, Conf: grid.Values{{Name: "load_report_time", Text: "1"}, {Name: "execd_params", Text: "USE_CGROUPS=false"}}}
	cgroup("0")

	restart(func(string) (string, error) {
		return "", errors.New("control group /jobs has no controller \"memory\"")
	})
	cgroup("0")
	for id := range uint32(2) {
		m.q.deliver("node1", script(t, m.out, id+1, "true\n"))
		m.q.end(id + 1)
	}
	said, err := os.ReadFile(log.Name())
	if err != nil || bytes.Count(said, []byte("h_rss and h_pids do not limit them")) != 1 || !bytes.Contains(said, []byte("no controller")) {
		t.Errorf("log %q, %v", said, err)
	}
}
