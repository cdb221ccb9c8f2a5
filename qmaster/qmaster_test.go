package qmaster

import (
	"context"
	"fmt"
	"testing"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

func newCell(t testing.TB) client.Cell {
	return client.Cell{Root: t.TempDir(), Name: "c"}
}

func start(t testing.TB, o Options) *QMaster {
	t.Helper()
	q, err := Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func stop(t testing.TB, q *QMaster) {
	t.Helper()
	if err := q.Stop(); err != nil {
		t.Fatal(err)
	}
}

func aJob(name string) *grid.Job {
	return &grid.Job{Name: name, Tasks: grid.Range{First: 1, Last: 1, Step: 1}, Binary: true,
		Spec: &grid.JobSpec{Command: "/bin/true", Script: nil, Env: grid.Values{{Name: "SECRET", Text: "x"}}}}
}

func submit(t testing.TB, c client.Client, name string) uint32 {
	t.Helper()
	reply, err := c.Do(context.Background(), "qsub", &gdi.Submit{Job: aJob(name)})
	if err != nil {
		t.Fatal(err)
	}
	if !reply.OK() || reply.Job == 0 {
		t.Fatalf("submit %s: %+v", name, reply)
	}
	return reply.Job
}

func jobs(t testing.TB, c client.Client) map[uint32]string {
	t.Helper()
	out := map[uint32]string{}
	_, err := c.Get(context.Background(), gdi.Get{Kinds: []grid.Kind{grid.KindJob}}, func(o grid.Object) error {
		j := o.(*grid.Job)
		out[j.ID] = j.Name
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func connect(t testing.TB, c client.Cell) *client.Remote {
	t.Helper()
	r, err := c.Connect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// What was answered is there after a restart, from the snapshot of the clean
// stop and from the log alone.
func TestSubmitSurvivesRestart(t *testing.T) {
	cell := newCell(t)
	want := map[uint32]string{}
	for round := range 3 {
		q := start(t, Options{Cell: cell})
		c := connect(t, cell)
		if got := jobs(t, c); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("round %d: jobs %v, want %v", round, got, want)
		}
		for i := range 5 {
			name := fmt.Sprintf("j%d.%d", round, i)
			want[submit(t, c, name)] = name
		}
		stop(t, q)
	}
}

var _ = bus.User
