package bus_test

import (
	"fmt"
	"os"

	"github.com/quill-grid/quill/pkg/bus"
	_ "github.com/quill-grid/quill/pkg/bus/embedded"
	"github.com/quill-grid/quill/pkg/frame"
)

// The owner of a log reads it to its end, takes it over and appends; it is read again from any point.
func ExampleLog() {
	if err := appendAndFollow(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// lists 1 to 2: one two
	// lists 3 to 3: three
	// lists 3 to 3: three
}

func appendAndFollow() error {
	dir, err := os.MkdirTemp("", "log")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	server, err := bus.Start(bus.ServerOptions{Dir: dir, Durable: true})
	if err != nil {
		return err
	}
	defer server.Stop()
	conn, err := server.Connect(bus.Identity{Role: bus.QMaster, Name: "qmaster"})
	if err != nil {
		return err
	}
	defer conn.Close()
	log, err := bus.Open(conn, bus.LogOptions{})
	if err != nil {
		return err
	}
	show := func(f frame.Frame) error {
		if f.Count > 0 { // a frame without lists is a take-over
			fmt.Printf("lists %d to %d: %s\n", f.First, f.Last, f.Payload)
		}
		return nil
	}
	end, err := log.Read(frame.Point{}, show)
	if err != nil {
		return err
	}
	if err := log.TakeOver(end.Seq); err != nil {
		return err
	}
	if err := log.Append(&frame.Frame{First: 1, Last: 2, Count: 2, Payload: []byte("one two")}); err != nil {
		return err
	}
	middle := log.Tail()
	if err := log.Append(&frame.Frame{First: 3, Last: 3, Count: 1, Payload: []byte("three")}); err != nil {
		return err
	}
	for _, from := range []frame.Point{{}, middle} {
		if _, err := log.Read(from, show); err != nil {
			return err
		}
	}
	return nil
}
