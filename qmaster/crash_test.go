package qmaster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
)

// cellVar makes the test binary a qmaster of the cell whose root it names.
const cellVar = "QMASTER_TEST_ROOT"

func TestMain(m *testing.M) {
	if root := os.Getenv(cellVar); root != "" {
		q, err := Start(context.Background(), Options{Cell: cell.Cell{Root: root, Name: "c"}, SnapshotEvents: 200})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println("ready")
		<-q.Ended()
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// spawn runs a qmaster in a process of its own and waits until it serves.
func spawn(t *testing.T, cell cell.Cell) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), cellVar+"="+cell.Root)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("qmaster said %q: %v", line, err)
	}
	return cmd
}

// Submits that were answered are there after each of several kill -9; those
// that were not may be, but only once.
func TestKilledUnderLoad(t *testing.T) {
	cell := newCell(t)
	var mu sync.Mutex
	acked := map[uint32]string{}
	enough := make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	begin := func(n int) {
		c := connect(t, cell)
		for i := 0; ctx.Err() == nil; i++ {
			name := fmt.Sprintf("c%d.%d", n, i)
			reply, err := c.Do(ctx, "qsub", &gdi.Submit{Job: aJob(name)})
			if err != nil {
				if ctx.Err() == nil {
					t.Errorf("%s: %v", name, err)
				}
				return
			}
			mu.Lock()
			if was := acked[reply.Job]; was != "" {
				t.Errorf("job %d was given to %s and %s", reply.Job, was, name)
			}
			acked[reply.Job] = name
			full := len(acked)%150 == 0
			mu.Unlock()
			if full {
				select {
				case enough <- struct{}{}:
				default:
				}
			}
		}
	}
	cmd := spawn(t, cell)
	for n := range 4 {
		clients.Go(func() { begin(n) })
	}
	for range 4 {
		<-enough
		cmd.Process.Kill()
		cmd.Wait()
		cmd = spawn(t, cell)
	}
	<-enough
	cancel()
	clients.Wait()
	cmd.Process.Kill()
	cmd.Wait()

	q := start(t, Options{Cell: cell})
	defer stop(t, q)
	got := jobs(t, connect(t, cell))
	names := map[string]uint32{}
	for id, name := range got {
		if other := names[name]; other != 0 {
			t.Errorf("%s was made twice: jobs %d and %d", name, other, id)
		}
		names[name] = id
	}
	for id, name := range acked {
		if got[id] != name {
			t.Errorf("job %d %s was acknowledged and is %q now", id, name, got[id])
		}
	}
	t.Logf("%d jobs acknowledged, %d made", len(acked), len(got))
}

// What schedulers order continues being recorded after each of several kill -9, and
// what is read is what was ordered. What had not reached the disk yet is gone.
func TestKilledWhileRecording(t *testing.T) {
	cell := newCell(t)
	ctx := t.Context()
	run := uint64(0)
	order := func(c *client.Remote) error {
		run++
		_,
			err := c.Order(ctx,
			orders.List{Seq: 1, Run: run, Last: true, Orders: []orders.Order{&orders.ClearPriInfo{Job: uint32(run), Task: 1}}})
		return err
	}
	for round := 1; round <= 3; round++ {
		cmd := spawn(t, cell)
		c, err := client.ConnectScheduler(ctx, cell, "schedd")
		if err != nil {
			t.Fatal(err)
		}
		for first := run; err == nil; err = order(c) {
			if run == first+uint64(round*50) {
				go cmd.Process.Kill()
			}
		}
		cmd.Wait()
		c.Close()
	}
	q := start(t, Options{Cell: cell})
	defer stop(t, q)
	c := q.Remote(bus.Identity{Role: bus.Scheduler, Name: "schedd"})
	defer c.Close()
	if err := order(c); err != nil {
		t.Fatal(err)
	}
	var read []uint64
	eventually(t, func() bool {
		read = nil
		log, err := q.past()
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		for r, err := range log.Runs(0) {
			if err != nil {
				t.Fatal(err)
			}
			n := r.List.Run
			if want := fmt.Sprintf("[clear_pri_info %d.1]", n); fmt.Sprint(r.List.Orders) != want ||
				len(r.Result.Refused) != 1 || r.List.Scheduler != "schedd" {
				t.Fatalf("run %d is recorded as %+v", n, r)
			}
			if len(read) > 0 && n <= read[len(read)-1] {
				t.Fatalf("run %d is recorded after run %d", n, read[len(read)-1])
			}
			read = append(read, n)
		}
		return len(read) > 0 && read[len(read)-1] == run
	}, func() string { return fmt.Sprintf("run %d is not among %d", run, read) })
	t.Logf("%d lists of orders sent, %d recorded", run, len(read))
}

func TestTwoQMasters(t *testing.T) {
	cell := newCell(t)
	q := start(t, Options{Cell: cell})
	defer stop(t, q)
	second, err := Start(context.Background(), Options{Cell: cell})
	if err == nil {
		second.Stop()
		t.Fatal("a second qmaster started in the same cell")
	}
	if !errors.Is(err, bus.ErrInUse) {
		t.Error(err)
	}
	submitJob(t, connect(t, cell), "still.there")
}
