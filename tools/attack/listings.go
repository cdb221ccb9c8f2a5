package attack

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// request is the bytes of a well-formed request.
func (f *Field) request(verb string) ([]byte, error) {
	bodies, err := f.bodies()
	if err != nil {
		return nil, err
	}
	for _, b := range bodies {
		if b.Verb() == verb {
			return codec.AppendRequest(nil, gdi.Request{ID: fmt.Sprint(f.dice.Uint64()), Command: "q" + verb, Body: b}), nil
		}
	}
	return nil, fmt.Errorf("no request %q", verb)
}

// get are the bytes of a listing.
func get(where gdi.Where, kinds ...grid.Kind) []byte {
	return codec.AppendRequest(nil, gdi.Request{Command: "qstat", Body: &gdi.Get{Kinds: kinds, Where: where}})
}

// listings is qstat, as fast as it goes.
var listings = Attack{
	Name: "listings", Usage: "qstat -u over 100 kept connections, as fast as it is answered; every third answer is not read to its end",
	Roles: asUser, Run: listAll,
}

var errEnough = errors.New("enough of it")

func listAll(ctx context.Context, f *Field) error {
	asks := [][]byte{
		get(gdi.Where{Brief: true, Owners: grid.Names{f.Name}}, grid.KindJob, grid.KindJATask),
		get(gdi.Where{Brief: true, Owners: grid.Names{"*"}}, grid.KindJob, grid.KindJATask, grid.KindQInstance, grid.KindLoad, grid.KindExecHost),
		get(gdi.Where{Owners: grid.Names{"*"}, Names: grid.Names{"*"}, Why: true}, grid.KindJob),
	}
	return workers(100, func(w int) error {
		conn, err := f.connect()
		if err != nil {
			f.refused()
			f.pause(ctx, 50*time.Millisecond)
			return nil
		}
		defer conn.Close()
		for i := w; ctx.Err() == nil; i++ {
			asking, cancel := context.WithTimeout(ctx, commandMax)
			last, err := conn.Stream(asking, bus.CmdSubject(conn.Identity(), "get"), asks[i%len(asks)], func(chunk []byte) error {
				f.search("listing", chunk)
				if i%3 == 0 {
					return errEnough
				}
				return nil
			})
			cancel()
			if reply, bad := codec.DecodeReply(last); err == nil && (bad != nil || !reply.OK()) {
				err = errEnough // busy: that is what it should say
			}
			f.count(err)
			if errors.Is(err, bus.ErrLost) {
				return nil
			}
		}
		return nil
	})
}

// registrations makes full states.
var registrations = Attack{
	Name: "registrations", Usage: "event clients that register on 64 connections, and some that leave the full state unread",
	Roles: asAnybody, Run: registerAll,
}

func registerAll(ctx context.Context, f *Field) error {
	return workers(64, func(w int) error {
		conn, err := f.connect()
		if err != nil {
			f.refused()
			f.pause(ctx, 50*time.Millisecond)
			return nil
		}
		defer conn.Close()
		for i := w; ctx.Err() == nil; i++ {
			asking, cancel := context.WithTimeout(ctx, commandMax)
			if i%2 == 0 {
				_, err = conn.Request(asking, bus.RegSubject(conn.Identity()), nil) // the first chunk; the rest waits for us
			} else {
				_, err = conn.Stream(asking, bus.RegSubject(conn.Identity()), nil, func(chunk []byte) error {
					f.search("full state of an event client", chunk)
					return nil
				})
			}
			cancel()
			f.count(err)
			if errors.Is(err, bus.ErrLost) {
				return nil
			}
		}
		return nil
	})
}

// waits asks for what takes long.
var waits = Attack{
	Name: "waits", Usage: "a hundred thousand requests that wait for the end of a job, on one connection",
	Roles: asUser, Short: true, Run: waitForAll,
}

func waitForAll(ctx context.Context, f *Field) error {
	way, err := f.asker()
	if err != nil {
		return err
	}
	defer way.Close()
	return workers(1000, func(w int) error {
		for i := range 100 {
			id := fmt.Sprintf("w%s.%d.%d", rand.Text(), w, i)
			data := codec.AppendRequest(nil, gdi.Request{ID: id, Command: "qsub", Body: &gdi.Wait{Job: f.Jobs[0], For: "ended", Task: 1}})
			asking, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
			_, err := way.Ask(asking, "wait", data)
			cancel()
			switch {
			case ctx.Err() != nil:
				return nil
			case errors.Is(err, context.DeadlineExceeded): // it waits, and we do not
				f.did()
			case err != nil:
				f.refused()
				f.pause(ctx, 100*time.Millisecond)
				return nil
			default:
				f.refused() // answered at once
			}
		}
		return nil
	})
}

// commands is what a user can do with a shell loop.
var commands = Attack{
	Name: "commands", Usage: "processes: qstat -u '*', qstat -f, qhost -q, qstat -j '*', qacct, eight at a time",
	Roles: asUser, Local: true, Run: runCommands,
}

func runCommands(ctx context.Context, f *Field) error {
	lines := [][]string{
		{"qstat", "-u", "*"}, {"qstat", "-f", "-u", "*"}, {"qhost", "-q", "-j"}, {"qstat", "-j", "*"}, {"qacct", "-j"}, {"qstat", "-xml", "-u", "*"},
		{"qquota"}, {"qselect"}, {"qconf", "-sq", "all.q"},
	}
	return workers(8, func(w int) error {
		for i := w; ctx.Err() == nil; i++ {
			words := lines[i%len(lines)]
			out, err := f.run(ctx, words[0], words[1:]...)
			f.search(words[0], []byte(out))
			f.count(err)
		}
		return nil
	})
}
