package main

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

var drillJobs = flag.Int("drill.jobs", 2000, "how many jobs the cell of TestBackupDrill has")

// afterwards is how many jobs each client submits, at least, after the backup.
const afterwards = 20

// drill is a cell into which jobs are submitted, and what was acknowledged.
type drill struct {
	*site
	mu   sync.Mutex
	jobs map[uint32]uint64 // the list of each
	most uint32
}

// hosted starts quill up on a host with a name, where this may be: only root can give a host another name.
func (d *drill) hosted(host string) *daemon {
	d.t.Helper()
	var up *daemon
	if os.Getuid() == 0 {
		up = d.run("unshare", "--uts", "sh", "-c", "hostname "+host+" && exec quill up --hosts 2 --slots 4")
	} else {
		up = d.start("up", "--hosts", "2", "--slots", "4")
	}
	d.await("the cell on "+host, patience, func() (bool, string) {
		out, errs, err := d.do("qstat")
		return err == nil, out + errs
	})
	return up
}

// submit submits so many jobs, and more until a channel is closed, and stores what is acknowledged.
func (d *drill) submit(n int, until <-chan struct{}) error {
	c, err := client.Connect(context.Background(), cell.Cell{Root: d.root, Name: "default"})
	if err != nil {
		return err
	}
	defer c.Close()
	for left, open := n, true; left > 0 || open; left-- {
		select {
		case <-until:
			if open {
				left, open = max(left, afterwards), false
			}
		default:
		}
		reply,
			err := c.Do(context.Background(), "qsub",
			&gdi.Submit{
				Job: &grid.Job{JobRequest: &grid.JobRequest{}, Name: "drill", Tasks: grid.Range{First: 1, Last: 1, Step: 1},
					UserHold: grid.Ranges{{First: 1, Last: 1, Step: 1}}, Binary: true, Spec: &grid.JobSpec{Command: "/bin/true"}}})
		if err == nil {
			err = reply.Err()
		}
		if err != nil {
			return err
		}
		d.mu.Lock()
		d.jobs[reply.Job], d.most = reply.Seq, max(d.most, reply.Job)
		d.mu.Unlock()
	}
	return nil
}

// backup backs the cell up and returns the last list.
func (d *drill) backup(dir string) uint64 {
	d.t.Helper()
	begun := time.Now()
	var got document.LogCopy
	if err := json.Unmarshal([]byte(d.must("quill", "backup", "--json", dir)), &got); err != nil || got.Last == nil {
		d.t.Fatal(err, got)
	}
	d.t.Logf("backup up to list %d, %d lists added, in %.2f s", got.Last.Seq, got.Lists, time.Since(begun).Seconds())
	return got.Last.Seq
}

// TestBackupDrill backs a cell up while jobs are submitted, loses it, and restores it on a host with another name:
// every job whose list the backup has is there and no other, no number is given again, and of two running jobs one
// continues and the other is reported.
func TestBackupDrill(t *testing.T) {
	t.Parallel()
	d := &drill{site: newSite(t, t.TempDir()), jobs: map[uint32]uint64{}}
	safe := filepath.Join(t.TempDir(), "safe")
	run := func(name string) {
		d.must("qsub", "-b", "y", "-N", name, "-o", "/dev/null", "-j", "y", "sleep", "600")
		d.await(name+" runs", patience, func() (bool, string) {
			out, _, _ := d.do("qstat", "-s", "r")
			return strings.Contains(out, " "+name+" "), out
		})
	}
	up := d.hosted("first")
	run("known")
	const clients = 4
	failed, backedUp := make(chan error, clients), make(chan struct{})
	for range clients { // the second half while backups are made
		go func() { failed <- d.submit(*drillJobs/clients, backedUp) }()
	}
	half := func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.jobs) >= *drillJobs/2
	}
	d.await("half of the jobs", 20*time.Minute, func() (bool, string) { return half(), "" })
	d.backup(safe)
	last := d.backup(safe)
	close(backedUp)
	for range clients {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
	run("forgotten")
	up.kill()
	if err := os.Rename(filepath.Join(d.root, "default"), filepath.Join(d.root, "lost")); err != nil {
		t.Fatal(err)
	}

	begun := time.Now()
	t.Logf("%sin %.2f s", d.must("quill", "restore", safe), time.Since(begun).Seconds())
	if out, err := exec.Command("mv", filepath.Join(d.root, "lost/execd"), filepath.Join(d.root, "lost/tmp"),
		filepath.Join(d.root, "default")).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	up = d.hosted("second")
	d.compare(last)
	d.must("qconf", "-am", "alice") // from a host of whose name the backup knows nothing
	d.await("the forgotten job is reported", patience, func() (bool, string) {
		out := up.log.String()
		return strings.Contains(out, "does not know a job of a host") && strings.Contains(out, "it continues"), out
	})
	d.await("the known job runs", patience, func() (bool, string) {
		out, _, _ := d.do("qstat", "-s", "r")
		return strings.Contains(out, " known ") && !strings.Contains(out, " forgotten "), out
	})
	if out := d.must("quill", "log", "verify"); !strings.HasPrefix(out, "good: ") {
		t.Error(out)
	}
}

// compare compares the jobs of the restored cell with those that the backup has, and submits one more.
func (d *drill) compare(last uint64) {
	t := d.t
	c, err := client.Connect(context.Background(), cell.Cell{Root: d.root, Name: "default"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	there := map[uint32]bool{}
	if _, err := c.Get(context.Background(), gdi.Get{Kinds: []grid.Kind{grid.KindJob}}, func(o grid.Object) error {
		if j := o.(*grid.Job); j.Name == "drill" {
			there[j.ID] = true
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	lost, wrong, after := 0, 0, 0
	for id, seq := range d.jobs {
		switch {
		case seq <= last && !there[id]:
			lost++
		case seq > last && there[id]:
			wrong++
		case seq > last:
			after++
		}
	}
	t.Logf("%d jobs acknowledged, %d restored, %d after list %d", len(d.jobs), len(there), after, last)
	if lost > 0 || wrong > 0 || after == 0 || len(there)+after != len(d.jobs) {
		t.Errorf("%d jobs are lost, %d are there that came after the backup, %d came after it", lost, wrong, after)
	}
	before := d.most
	none := make(chan struct{})
	close(none)
	if err := d.submit(0, none); err != nil {
		t.Fatal(err)
	}
	for id := range d.jobs {
		if id > before && id < before+1000 {
			t.Errorf("job number %d may have been given before", id)
		}
	}
	if len(d.jobs) != len(there)+after+afterwards {
		t.Error("job numbers were given twice")
	}
}
