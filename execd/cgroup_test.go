package execd

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/quill-grid/quill/execd/shepherd"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// The load value cgroup reports whether jobs get control groups. Where they could have some and do not, execd logs once
// what is not enforced.
func TestHostSaysWhetherItContainsJobs(t *testing.T) {
	m := newMachine(t)
	log, err := os.Create(filepath.Join(m.out, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	load := func(name, want string) {
		t.Helper()
		m.q.wait("load value "+name+"="+want, func() bool {
			if len(m.q.loads) == 0 {
				return false
			}
			is, _ := m.q.loads[len(m.q.loads)-1].Load.Values.Get(name)
			return is == want
		})
	}
	cgroup := func(want string) { t.Helper(); load("cgroup", want) }
	conf := func(params string) {
		m.q.commands <- report.Command{
			Epoch: 1, Conf: grid.Values{{Name: "load_report_time", Text: "1"}, {Name: "execd_params", Text: params}}}
	}
	restart := func(groups func(string) (shepherd.CgroupParent, error)) {
		m.halt()
		m.q.set(func() { m.q.loads = nil })
		m.log, m.groups = log, groups
		m.start()
	}
	restart(func(name string) (shepherd.CgroupParent, error) {
		return shepherd.CgroupParent{Path: "/made-up/" + name}, nil
	})
	cgroup("1")
	load("device_isolation", "1")
	conf("ISOLATE_DEVICES=false")
	load("device_isolation", "0")
	cgroup("1")
	conf("USE_CGROUPS=false")
	cgroup("0")
	load("device_isolation", "0")

	restart(func(name string) (shepherd.CgroupParent, error) {
		return shepherd.CgroupParent{Path: "/made-up/" + name, NoDevices: errors.New("no right"),
			NoWeights: errors.New("no file"), NoProcessors: errors.New("no controller")}, nil
	})
	cgroup("1")
	load("device_isolation", "0")

	restart(func(string) (shepherd.CgroupParent, error) {
		return shepherd.CgroupParent{}, errors.New("control group /jobs has no controller \"memory\"")
	})
	cgroup("0")
	conf("IO_WEIGHT=true")
	for id := range uint32(2) {
		m.q.deliverWith("node1", func(d *report.Deliver) { d.Devices = []grid.Device{{Path: "/dev/nvidia0"}} },
			script(t, m.out, id+1, "true\n"))
		m.q.end(id + 1)
	}
	said, err := os.ReadFile(log.Name())
	for _, text := range []string{"h_rss and h_pids do not limit them",
		"devices of instances are not closed to jobs that do not have them", "slots do not share disks (IO_WEIGHT)"} {
		if err != nil || bytes.Count(said, []byte(text)) != 1 || !bytes.Contains(said, []byte("no controller")) {
			t.Errorf("log %q, %v: %q", said, err, text)
		}
	}
}
