package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// TestStartingIsAwaited: while a qmaster starts or waits as standby its cell is tried for a minute, else for five
// seconds, and after ten seconds it is said once what is waited for.
func TestStartingIsAwaited(t *testing.T) {
	for _, c := range []struct {
		what     string
		fails    error
		starting bool
		free     time.Duration
		want     string
	}{
		{"takes over after 50 s", bus.ErrUnserved, true, 50 * time.Second,
			"50s <nil> [qmaster does not answer (Connection refused); waiting]"},
		{"its server comes after 50 s", bus.ErrNoServer, true, 50 * time.Second,
			"50s <nil> [qmaster does not answer (cell is not running); waiting]"},
		{"never takes over", bus.ErrUnserved, true, time.Hour,
			"1m0s away [qmaster does not answer (Connection refused); waiting]"},
		{"comes after 4 s, none starts", bus.ErrUnserved, false, 4 * time.Second, "4s <nil> []"},
		{"none starts", bus.ErrUnserved, false, time.Hour, "5s away []"},
		{"none runs, none starts", bus.ErrNoServer, false, time.Hour, "0s away []"},
	} {
		r := &Remote{cell: cell.Cell{Root: t.TempDir(), Name: "c"}}
		notices := make(chan string, 10)
		notice := func(text string) { notices <- text }
		if c.starting {
			end, err := r.cell.KeepStarting("h")
			if err != nil {
				t.Fatal(err)
			}
			defer end()
			if os.MkdirAll(r.cell.Common(), 0o755) != nil || r.cell.WriteBootstrap(nil) != nil {
				t.Fatal("no bootstrap file")
			}
		}
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			h := held[*conn]{dial: func() (*conn, error) { return new(conn), nil }}
			err := try(t.Context(), r, &h, notice, func(*conn) error {
				if time.Since(begun) >= c.free {
					return nil
				}
				return c.fails
			})
			result, said := fmt.Sprint(err), []string{}
			for len(notices) > 0 {
				said = append(said, <-notices)
			}
			if away := (*Unreachable)(nil); errors.As(err, &away) {
				result = "away"
			}
			if got := fmt.Sprint(time.Since(begun).Round(time.Second), " ", result, " ", said); got != c.want {
				t.Errorf("%s: %s, want %s", c.what, got, c.want)
			}
		})
	}
}

// TestUnanswered: a request whose answer is lost may have been carried out, and is not said to have failed; with its
// number the next process repeats it. What only reads is unreachable.
func TestUnanswered(t *testing.T) {
	cell := cell.Cell{Root: t.TempDir(), Name: "c"}
	if err := os.MkdirAll(cell.Common(), 0o755); err != nil {
		t.Fatal(err)
	}
	submit := &gdi.Submit{Job: &grid.Job{JobRequest: &grid.JobRequest{}}}
	unanswered := func(body gdi.Body) (asked gdi.Request, err error) {
		t.Helper()
		requests := make(chan gdi.Request, 2)
		s := fake(t, cell, func(req gdi.Request, _ *bus.Request) { requests <- req })
		c, err := connect(t.Context(), cell, func(r *Remote) { r.named = true })
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		stopped := make(chan bool)
		go func() {
			asked = <-requests
			s.Stop()
			close(stopped)
		}()
		_, err = c.Do(context.Background(), "qsub", body)
		<-stopped
		return asked, err
	}
	asked, err := unanswered(submit)
	var e *Unanswered
	if !errors.As(err, &e) || e.Request != asked.ID || !strings.Contains(err.Error(), "QUILL_REQUEST="+asked.ID+" ") {
		t.Errorf("submission %s: %v", asked.ID, err)
	}
	if away := (*Unreachable)(nil); errors.As(err, &away) {
		t.Error("it is said that nothing was carried out")
	}
	t.Setenv(grid.RequestVariable, asked.ID)
	for i, want := range []string{asked.ID, asked.ID + ".2"} {
		if again, _ := unanswered(submit); again.ID != want {
			t.Errorf("submission %d of the next process has number %s, want %s", i, again.ID, want)
		}
	}
	asked, err = unanswered(&gdi.DeleteJobs{Jobs: gdi.Jobs{Users: grid.Names{"alice"}}})
	if !errors.As(err, &e) || e.Makes || asked.ID == "" || strings.Contains(asked.ID, os.Getenv(grid.RequestVariable)) {
		t.Errorf("deletion %s: %v", asked.ID, err)
	}
	_, err = unanswered(&gdi.Wait{Job: 1, For: "ended"})
	if away := (*Unreachable)(nil); !errors.As(err, &away) {
		t.Errorf("a request that only reads: %v", err)
	}
}

// A request over a connection that the server has closed before was not sent: it has failed, and nothing was carried
// out.
func TestClosedIsNotSent(t *testing.T) {
	cell := cell.Cell{Root: t.TempDir(), Name: "c"}
	if err := os.MkdirAll(cell.Common(), 0o755); err != nil {
		t.Fatal(err)
	}
	s := fake(t, cell, func(_ gdi.Request, r *bus.Request) { r.Answer(codec.AppendReply(nil, gdi.Reply{})) })
	c, err := Connect(t.Context(), cell)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Do(t.Context(), "qdel", &gdi.DeleteJobs{}); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	_, err = c.Do(t.Context(), "qdel", &gdi.DeleteJobs{})
	if away := (*Unreachable)(nil); !errors.As(err, &away) {
		t.Error(err)
	}
}
