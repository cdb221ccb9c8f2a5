package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/testkit"
)

// Each daemon reports to systemd when it does its work and when it stops. schedd and execd wait for a cell that does
// not exist yet.
func TestReadiness(t *testing.T) {
	root, err := os.MkdirTemp("", "quill-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	s := newSite(t, root)
	plain := s.env
	said := map[string]func(string){}
	start := func(name string, args ...string) *daemon {
		t.Helper()
		path := filepath.Join(root, name+".notify")
		socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { socket.Close() })
		said[name] = func(wanted string) {
			t.Helper()
			socket.SetReadDeadline(time.Now().Add(testkit.Patience))
			for b := make([]byte, 4096); ; {
				n, err := socket.Read(b)
				if err != nil {
					s.Fatalf("%s does not say %q: %v", name, wanted, err)
				}
				if strings.HasPrefix(string(b[:n]), wanted) {
					return
				}
			}
		}
		s.env = append(plain[:len(plain):len(plain)], "NOTIFY_SOCKET="+path)
		return s.start(name, args...)
	}
	daemons := map[string]*daemon{"schedd": start("schedd"), "execd": start("execd", "--host", "node1")}
	for name, d := range daemons {
		said[name]("STATUS=waiting for qmaster of cell " + root + "/default")
		s.await(name+" waits", testkit.Patience, func() (bool, string) {
			log := d.log.String()
			return strings.Contains(log, "waiting for qmaster to set up the cell"), log
		})
	}
	daemons["qmaster"] = start("qmaster")
	s.env = plain
	said["qmaster"]("READY=1")
	s.must("qstat")
	for _, name := range []string{"execd", "schedd"} {
		said[name]("READY=1")
	}
	s.must("qhost")
	for _, name := range []string{"execd", "schedd", "qmaster"} {
		daemons[name].cmd.Process.Signal(syscall.SIGTERM)
		said[name]("STOPPING=1")
		<-daemons[name].gone
		if !daemons[name].cmd.ProcessState.Success() {
			s.Fatalf("%s: %v", name, daemons[name].cmd.ProcessState)
		}
	}
}

// A unit for each daemon; no other name.
func TestUnits(t *testing.T) {
	s := newSite(t, t.TempDir())
	for name, wanted := range map[string]string{
		"qmaster": "ExecStart=/opt/quill/bin/quill qmaster $QMASTER_OPTIONS\n",
		"schedd":  "ExecStart=/opt/quill/bin/quill schedd $SCHEDD_OPTIONS\n",
		"execd":   "--shepherd-unit quill-shepherd.service ", "shepherd": "RefuseManualStop=yes\n",
	} {
		unit := s.must("quill", "unit", "--prefix", "/opt/quill", "--root", "/opt/cell", name)
		for _, part := range []string{wanted, "Type=notify\n", "Environment=SGE_ROOT=/opt/cell\n"} {
			if !strings.Contains(unit, part) {
				t.Errorf("unit of %s lacks %q:\n%s", name, part, unit)
			}
		}
	}
	if _, errs, err := s.do("quill", "unit", "daemon"); err == nil ||
		!strings.Contains(errs, `"daemon" is not one of qmaster, schedd, execd, shepherd`) {
		t.Errorf("unit daemon: %v, %s", err, errs)
	}
}
