package attacker

import (
	"context"
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
	bodies, err := f.bodies(f.Jobs[0], "*")
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

// registrations makes full states.
var registrations = Attack{
	Name:  "registrations",
	Usage: "event clients that register on 64 connections, and some that leave the full state unread",
	Roles: AsAnybody, Run: registerAll,
}

func registerAll(ctx context.Context, f *Field) error {
	return Workers(64, func(w int) error {
		conn, err := f.connect()
		if err != nil {
			f.refused()
			f.pause(ctx, 50*time.Millisecond)
			return nil
		}
		defer conn.Close()
		for i := w; ctx.Err() == nil; i++ {
			asking, cancel := context.WithTimeout(ctx, CommandMax)
			if i%2 == 0 {
				_, err = conn.Request(asking, bus.RegSubject(conn.Identity()), nil) // the first chunk; the rest waits for us
			} else {
				_, err = conn.RequestStream(asking, bus.RegSubject(conn.Identity()), nil, func(chunk []byte) error {
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
