package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/bus/bustest"
)

var cuts = flag.Int("cuts", 0, "how often the power is cut; make powercut says")

// disk is an ext4 file system in a file, mounted at a directory. What programs
// have written there and not synced is in memory only, and not in the file: a
// copy of the file is what a power cut leaves.
type disk struct {
	t     *testing.T
	at    string // where it is mounted
	image string
	made  int
}

func newDisk(t *testing.T) *disk {
	if os.Getuid() != 0 {
		t.Fatal("a power cut is tried on a file system of its own, and only root can mount one: run it as root")
	}
	d := &disk{t: t, at: t.TempDir(), image: filepath.Join(t.TempDir(), "image")}
	err := os.WriteFile(d.image, nil, 0o600)
	if err == nil {
		err = os.Truncate(d.image, 256<<20)
	}
	if err != nil {
		t.Fatal(err)
	}
	d.command("mkfs.ext4", "-q", d.image)
	d.mount()
	t.Cleanup(func() { syscall.Unmount(d.at, syscall.MNT_DETACH) })
	return d
}

// command runs a program that this test cannot do without.
func (d *disk) command(name string, args ...string) {
	d.t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		d.t.Fatalf(
			"a power cut is tried on an ext4 file system in a loop device, and this machine cannot do that:\n%s %s: %v\n%s",
			name, strings.Join(args, " "), err, out)
	}
}

func (d *disk) mount() { d.command("mount", "-o", "loop", d.image, d.at) }

// written is how much the device of the file system was given to write.
func (d *disk) written() string {
	var at syscall.Stat_t
	if err := syscall.Stat(d.at, &at); err != nil {
		d.t.Fatal(err)
	}
	major, minor := at.Dev>>8&0xfff, at.Dev&0xff|at.Dev>>12&0xfff00
	stat, err := os.ReadFile(fmt.Sprintf("/sys/dev/block/%d:%d/stat", major, minor))
	if err != nil {
		d.t.Fatal(err)
	}
	words := strings.Fields(string(stat)) // 4: writes done, 6: sectors, 8: in flight
	return strings.Join([]string{words[4], words[6], words[8]}, " ")
}

// cut copies the image at one moment: nothing was written while it was copied.
func (d *disk) cut() (image string) {
	d.made++
	image = fmt.Sprintf("%s%d", d.image, d.made)
	for {
		before := d.written()
		d.command("cp", "--sparse=always", d.image, image)
		if d.written() == before && strings.HasSuffix(before, " 0") {
			return image
		}
	}
}

// plug mounts the copy in place of what it was copied from.
func (d *disk) plug(image string) {
	if err := syscall.Unmount(d.at, syscall.MNT_DETACH); err != nil {
		d.t.Fatal(err)
	}
	if d.made > 1 { // the file before is kept as long as something holds it open
		os.Remove(d.image)
	}
	d.image = image
	d.mount()
}

// machine is a cell on a disk, of which the power is cut.
type machine struct {
	chaos
	disk    *disk
	daemons [][]string
	scratch string // in memory: empty after a cut
	dice    *rand.Rand
}

func newMachine(t *testing.T, durable bool) *machine {
	d := newDisk(t)
	outside := t.TempDir()
	m := &machine{
		chaos: chaos{site: newSite(t, d.at), runs: filepath.Join(outside, "runs"), cuts: true}, disk: d,
		scratch: filepath.Join(outside, "run"), dice: rand.New(rand.NewPCG(chance(), 4)),
	}
	how := fmt.Sprintf("--durable=%v", durable)
	m.daemons = [][]string{
		{"qmaster", how, "--snapshot-every", "300ms", "--log-level", "debug"},
		{"schedd"},
		{"execd", how, "--host", "node1", "--active", m.scratch},
		{"execd", how, "--host", "node2"},
	}
	return m
}

func (m *machine) boot() {
	for _, args := range m.daemons {
		m.start(args[0], args[1:]...)
		if args[0] == "qmaster" {
			m.await("qmaster answers", patience, func() (bool, string) {
				out, errs, err := m.do("qconf", "-sql")
				return err == nil, out + errs
			})
		}
	}
}

// processes are all that belong to the cell and could write to its disk.
func (m *machine) processes() (pids []int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range m.site.daemons {
		pids = append(pids, d.cmd.Process.Pid)
	}
	return append(pids, shepherds(m.root)...)
}

// cut cuts the power at once, and boots. What the accounting file said at the
// cut it must say again.
func (m *machine) cut(verify bool) {
	t := m.t
	// New names each time: ext4 syncs what is written over an old file.
	lazy, sure := filepath.Join(m.root, fmt.Sprint("lazy", m.disk.made)),
		filepath.Join(m.root, fmt.Sprint("sure", m.disk.made))
	for file, sync := range map[string]bool{sure: true, lazy: false} {
		if err := writeFile(file, sync); err != nil {
			t.Fatal(err)
		}
	}
	pids := m.processes()
	for _, pid := range pids {
		syscall.Kill(pid, syscall.SIGSTOP)
	}
	said := m.records()
	image := m.disk.cut()
	for _, pid := range pids {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	for _, d := range m.site.daemons {
		<-d.gone
	}
	m.disk.plug(image)
	if err := os.RemoveAll(m.scratch); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(sure); err != nil || len(text) == 0 {
		t.Fatalf("a file that was synced is gone after the cut: %v", err)
	}
	if text, _ := os.ReadFile(lazy); len(text) > 0 {
		t.Fatalf("%d bytes that nobody has synced are there after the cut: this is no power cut", len(text))
	}
	if verify {
		if out, errs, err := m.do("quill", "log", "verify", "--log", filepath.Join(m.root, "default")); err != nil {
			t.Errorf("the log after the cut: %v\n%s%s", err, out, errs)
		}
	}
	m.boot()
	if verify {
		now := m.records()
		for p, n := range said {
			if now[p] != n {
				t.Errorf("job %d task %d had %d records at the cut, and has %d", p.job, p.task, n, now[p])
			}
		}
	}
}

func writeFile(path string, sync bool) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(bytes.Repeat([]byte("x"), 10000))
	if sync {
		dir, _ := os.Open(filepath.Dir(path))
		err = errors.Join(err, f.Sync(), dir.Sync(), dir.Close())
	}
	return errors.Join(err, f.Close())
}

// records are how many the accounting file has of each task.
func (m *machine) records() map[place]int {
	out := map[place]int{}
	file, err := os.Open(filepath.Join(m.root, "default/common/accounting"))
	if err != nil {
		m.t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		a, err := accounting.ParseLine(lines.Text())
		if errors.Is(err, accounting.ErrComment) {
			continue
		}
		if err != nil {
			m.t.Errorf("accounting: %v: %q", err, lines.Text())
			continue
		}
		out[placeOf(a)]++
	}
	return out
}

// TestPowerCut cuts the power of a cell at random moments while jobs flow. In a
// durable cell nothing that was acknowledged is lost and no job runs twice; in a
// fast one something is, or the test would prove nothing.
func TestPowerCut(t *testing.T) {
	if *cuts == 0 {
		t.Skip("it needs root and a loop device: make powercut")
	}
	t.Logf("repeat with -run TestPowerCut -seed %d -cuts %d", chance(), *cuts)
	t.Run("durable", func(t *testing.T) { bustest.OwnMounts(t, testPowerCut) })
	t.Run("fast", func(t *testing.T) { bustest.OwnMounts(t, testFastPowerCut) })
}

func testPowerCut(t *testing.T) {
	m := newMachine(t, true)
	m.boot()
	job, tmp := m.prepare()
	m.disk.command("sync", "-f", m.root) // what jobs need is there since long
	m.reported.changed, m.reported.clients = sync.NewCond(&m.reported), 4
	more := func(tasks int) func() bool {
		m.reported.Lock()
		defer m.reported.Unlock()
		goal := m.reported.tasks + tasks
		return func() bool { return m.reported.tasks >= goal }
	}
	m.reported.enough = 1 << 30
	for i := range m.reported.clients {
		dice := rand.New(rand.NewPCG(chance(), uint64(20+i)))
		go func() {
			defer m.updateClients(func() { m.reported.clients-- })
			m.submit(dice, i, job)
		}()
	}
	for range *cuts {
		m.wait(more(1 + m.dice.IntN(300)))
		m.cut(true)
	}
	m.wait(more(20))
	m.updateClients(func() { m.reported.enough = 0 })
	m.await("all jobs end", 3*patience, func() (bool, string) {
		out, errs, err := m.do("qstat", "-u", "*")
		return err == nil && out == "", out + errs
	})
	m.judge(*cuts)
	m.cleanAfterwards(tmp)
}

func testFastPowerCut(t *testing.T) {
	m := newMachine(t, false)
	m.boot()
	lost := 0
	for cut := 0; cut < 5 && lost == 0; cut++ {
		var ids []string
		for range 20 {
			ids = append(ids, strings.TrimSpace(m.must("qsub", "-terse", "-h", "-b", "y", "true")))
		}
		m.cut(false)
		known := m.must("qstat", "-u", "*")
		for _, id := range ids {
			if !strings.Contains(known, " "+id+" ") {
				lost++
			}
		}
	}
	if lost == 0 {
		t.Error("a cell that does not sync has lost nothing: the power was not cut")
	}
	t.Logf("%d jobs of a fast cell are lost", lost)
}
