package client

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quill-grid/quill/pkg/bus"
	_ "github.com/quill-grid/quill/pkg/bus/embedded"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
)

// The errors, without a wait, when there is no cell, or no qmaster answers in it.
func TestNoQMaster(t *testing.T) {
	root, begun := t.TempDir(), time.Now()
	fails := func(c cell.Cell, want string) {
		t.Helper()
		_, err := Connect(context.Background(), c)
		if err == nil || err.Error() != want {
			t.Errorf("%v\nwant\n%s", err, want)
		}
	}
	fails(cell.Cell{Root: root + "/none", Name: "c"}, `error: SGE_ROOT directory "`+root+`/none" doesn't exist`)
	cell := cell.Cell{Root: root, Name: "c"}
	fails(cell, `error: cell directory "`+root+`/c" doesn't exist`)
	if err := os.MkdirAll(cell.Common(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cell.ActQMaster(), []byte("h1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	fails(cell, "error: commlib error: got select error (Connection refused)\n"+
		`unable to send message to qmaster using socket "`+cell.Socket()+`" on host "h1": got send error`)
	if took := time.Since(begun); took > restartWait/2 {
		t.Errorf("a qmaster that was stopped was waited for: %v", took)
	}
}

// TestBusy: a request that qmaster sends back as busy is repeated for half a minute, a connection that is refused as
// busy for 5 s.
func TestBusy(t *testing.T) {
	refused := fmt.Errorf("%w: too many connections", bus.ErrBusy)
	for _, c := range []struct {
		what string
		dial error
		sent error // what sending returns until free
		free time.Duration
		want string
	}{
		{"free after 29 s", nil, bus.ErrBusy, 29 * time.Second, "29s <nil>"},
		{"busy for ever", nil, bus.ErrBusy, time.Hour, "30s error: qmaster is busy"},
		{"no connection for 4 s", refused, nil, 4 * time.Second, "4s <nil>"},
		{"no connection for ever", refused, nil, time.Hour, "5s error: qmaster is busy: too many connections"},
	} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			until := func(err error) error {
				if time.Since(begun) >= c.free {
					return nil
				}
				return err
			}
			h := held[*conn]{dial: func() (*conn, error) { return new(conn), until(c.dial) }}
			err := try(t.Context(), new(Remote), &h, nil, func(*conn) error { return until(c.sent) })
			if got := fmt.Sprint(time.Since(begun).Round(time.Second), " ", err); got != c.want {
				t.Errorf("%s: %s, want %s", c.what, got, c.want)
			}
		})
	}
}

// conn is a connection that only try needs.
type conn struct{ _ int }

func (*conn) Close() {}

// Where a server runs and no qmaster serves, one soon may: with a server outside of
// qmaster there is a standby, and it may be at another server of the cluster.
func TestDoAwaitsTheNext(t *testing.T) {
	cell := cell.Cell{Root: t.TempDir(), Name: "c"}
	s, err := bus.Start(bus.ServerOptions{Dir: filepath.Join(cell.Dir(), "log"), Socket: cell.Socket()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	dials := 0
	r := Over(cell, func() (*bus.Conn, error) {
		if dials++; dials == 2 { // asked once, in vain
			serve(t, s, func(_ gdi.Request, r *bus.Request) { r.Answer(codec.AppendReply(nil, gdi.Reply{Job: 7})) })
		}
		return s.Connect(bus.Identity{Role: bus.User, Name: "alice"})
	})
	defer r.Close()
	reply, err := r.Do(context.Background(), "qsub", &gdi.Wait{Job: 7, For: "ended"})
	if err != nil || reply.Job != 7 || dials != 2 {
		t.Error(reply, dials, err)
	}
}

// A qmaster that goes down with a listing is not the last one.
func TestGetAwaitsTheNext(t *testing.T) {
	cell := cell.Cell{Root: t.TempDir(), Name: "c"}
	if err := os.MkdirAll(cell.Common(), 0o755); err != nil {
		t.Fatal(err)
	}
	down := true
	s := fake(t, cell, func(_ gdi.Request, r *bus.Request) {
		reply := gdi.Reply{Seq: 7}
		if down {
			reply.Answers = []gdi.Answer{gdi.Deny(gdi.StatusShutdown, "qmaster is going down")}
			down = false
		}
		r.Answer(codec.AppendReply(nil, reply))
	})
	defer s.Stop()
	c, err := Connect(context.Background(), cell)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if seq, err := c.Get(context.Background(), gdi.Get{}, nil); err != nil || seq != 7 {
		t.Error(seq, err)
	}
}

// fake is a qmaster that does what answer says.
func fake(t *testing.T, c cell.Cell, answer func(gdi.Request, *bus.Request)) *bus.Server {
	t.Helper()
	s, err := bus.Start(bus.ServerOptions{Dir: filepath.Join(c.Dir(), "log"), Socket: c.Socket()})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, s, answer)
	return s
}

func serve(t *testing.T, s *bus.Server, answer func(gdi.Request, *bus.Request)) {
	t.Helper()
	conn, err := s.Connect(bus.Identity{Role: bus.QMaster, Name: "qmaster"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Serve(bus.AllCmd, func(r *bus.Request) {
		req, err := new(codec.Decoder).Request(r.Data)
		if err != nil {
			t.Error(err)
		}
		answer(req, r)
	}); err != nil {
		t.Fatal(err)
	}
}

// A qmaster that dies with a request is asked again under the same id when it
// is back; one that says not yet is asked until it knows.
func TestDoRepeats(t *testing.T) {
	cell := cell.Cell{Root: t.TempDir(), Name: "c"}
	if err := os.MkdirAll(cell.Common(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cell.PIDFile(), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	asked := make(chan string, 3)
	first := fake(t, cell, func(req gdi.Request, _ *bus.Request) { asked <- req.ID })
	c, err := Connect(context.Background(), cell)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	second := make(chan *bus.Server)
	go func() {
		id := <-asked
		first.Stop()
		notYet := true
		second <- fake(t, cell, func(req gdi.Request, r *bus.Request) {
			reply := gdi.Reply{Job: 7}
			if notYet {
				reply.Answers = []gdi.Answer{{Status: gdi.StatusNotYet}}
				notYet = false
			}
			if req.ID != id || req.Host == "" || req.Command != "qsub" {
				t.Errorf("asked again: %+v, the first id was %s", req, id)
			}
			r.Answer(codec.AppendReply(nil, reply))
		})
	}()
	reply, err := c.Do(context.Background(), "qsub", &gdi.Wait{Job: 7, For: "ended"})
	if err != nil || reply.Job != 7 {
		t.Error(reply, err)
	}
	(<-second).Stop()
}
