package execd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// execd goes before jobs where it may; what it starts has no part in that.
func TestPriority(t *testing.T) {
	m, base := bare(t)
	socket := filepath.Join(base, "sock")
	defer m.q.serve(t, socket, filepath.Join(base, "bus"))()
	sensor := filepath.Join(m.out, "sensor")
	text := `#!/bin/sh
while read line; do
	echo begin; echo node1:own:$(nice)$(test ! -e /proc/self/autogroup || cut -d' ' -f3 /proc/self/autogroup); echo node1:parent:$(cut -d' ' -f19 /proc/$PPID/stat); echo end
done
`
	if err := os.WriteFile(sensor, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0], "execd", socket, m.dir)
	child.Stderr, child.SysProcAttr = os.Stderr, &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	m.q.commands <- report.Command{
		Epoch: 1, Conf: grid.Values{{Name: "load_report_time", Text: "1"}, {Name: "load_sensor", Text: sensor}}}
	var got string
	m.q.wait("values of the sensor", func() bool {
		for _, l := range m.q.loads {
			own, ok := l.Load.Values.Get("own")
			parent, _ := l.Load.Values.Get("parent")
			if got = own + " " + parent; ok {
				return true
			}
		}
		return false
	})
	nice, err := exec.Command("nice").Output()
	if err != nil {
		t.Fatal(err)
	}
	own, err := strconv.Atoi(strings.TrimSpace(string(nice)))
	if err != nil {
		t.Fatal(err)
	}
	lead := own
	if os.Getuid() == 0 {
		lead = max(own-10, -20)
	}
	group := "" // of processes of a session, sched(7): it is new
	if _, err := os.Stat("/proc/self/autogroup"); err == nil {
		group = "0"
	}
	if want := fmt.Sprintf("%d%s %d", own, group, lead); got != want {
		t.Errorf("nice of the sensor and of execd: %s, want %s", got, want)
	}
	m.q.commands <- killAll
}
