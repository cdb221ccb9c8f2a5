package qevent_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt/opttest"
	"github.com/quill-grid/quill/tools/ge/qevent"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// feed sends a full state and two lists, then loses its connection.
type feed struct{ opttest.FakeClient }

var errLost = errors.New("error: connection lost")

func (f *feed) Watch(ctx context.Context, w client.Watcher) error {
	sink := w.Fresh()
	sink.Apply(events.List{Seq: 7, Events: []events.Event{
		events.Listed(&grid.PE{Name: "mpi", Slots: 4}),
		events.Listed(&grid.Job{JobRequest: &grid.JobRequest{}, ID: 3, Name: "old", Owner: "bob"})}})
	w.Full(1, 7)
	job := &grid.Job{JobRequest: &grid.JobRequest{}, ID: 4, Name: "new", Owner: "alice"}
	sink.Apply(events.List{Seq: 8, At: opttest.CellTime, Cause: events.Cause{Who: "alice@master", What: "qsub"},
		Events: []events.Event{events.Add(job), events.Mod(&grid.Counter{Name: grid.JobSeqNum, Value: 4})}})
	sink.Apply(events.List{Seq: 9, At: opttest.CellTime + 1, Cause: events.Cause{Who: "schedd", What: "orders", Ref: "2"},
		Events: []events.Event{events.Add(&grid.JATask{Job: 4, ID: 1, Status: grid.Transfering,
			Grants: []grid.Grant{{Queue: "all.q", Host: "node1", Slots: 1}}})}})
	if ctx.Err() != nil {
		return nil
	}
	return errLost
}

func TestTranscripts(t *testing.T) {
	datadriven.RunTest(t, "testdata/qevent.txt", func(t *testing.T, d *datadriven.TestData) string {
		env, printed := opttest.ClientEnv(&feed{})
		var args []string
		for _, a := range d.CmdArgs {
			args = append(args, a.Key)
		}
		return printed(qevent.Run(env, args))
	})
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestEndsWithoutReader(t *testing.T) {
	env, printed := opttest.ClientEnv(&feed{})
	env.Stdout = full{}
	want := "stderr: qevent: no space left on device\nexit 1\n"
	if got := printed(qevent.Run(env, nil)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
