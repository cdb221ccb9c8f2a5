package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/quill-grid/quill/pkg/bus"
)

// limitTime is how long a limit is measured.
const limitTime = 700 * time.Millisecond

// appendRate is how many records a second JetStream appends, one after the other, each
// synced before it is acknowledged, to a stream on the disk of dir.
func appendRate(ctx context.Context, dir string) (rate float64, err error) {
	store, err := os.MkdirTemp(dir, "jetstream")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(store)) }()
	s, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, NoLog: true, JetStream: true,
		StoreDir: store, SyncAlways: true})
	if err != nil {
		return 0, err
	}
	s.Start()
	defer func() {
		s.Shutdown()
		s.WaitForShutdown()
	}()
	if !s.ReadyForConnections(10 * time.Second) {
		return 0, errors.New("NATS server does not start")
	}
	nc, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		return 0, err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return 0, err
	}
	if _,
		err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "LIMIT", Subjects: []string{"limit"},
		Storage: jetstream.FileStorage}); err != nil {
		return 0, err
	}
	record := make([]byte, frameBytes)
	n, begun := 0, time.Now()
	for ; time.Since(begun) < limitTime; n++ {
		if _, err := js.Publish(ctx, "limit", record); err != nil {
			return 0, err
		}
	}
	return float64(n) / time.Since(begun).Seconds(), nil
}

// echo answers every request with itself, at the socket that echoRate asks.
func (p processPart) echo(ctx context.Context, ready func()) error {
	dir := p.echoDir()
	s, err := bus.Start(bus.ServerOptions{Dir: dir, Socket: filepath.Join(dir, "socket")})
	if err != nil {
		return err
	}
	defer s.Stop()
	c, err := s.Connect(bus.Identity{Role: bus.QMaster, Name: "echo"})
	if err != nil {
		return err
	}
	defer c.Close()
	stop, err := c.Serve(bus.AllCmd, func(r *bus.Request) { r.Answer(r.Data) })
	if err != nil {
		return err
	}
	defer stop()
	ready()
	<-ctx.Done()
	return nil
}

func (p processPart) echoDir() string { return filepath.Join(p.Cell.Root, "echo") }

// echoRate is how many requests of the size of a submission a second the NATS server
// carries to a service that returns them, and back, over so many connections to its
// socket, with one request under way on each.
func (s *site) echoRate(ctx context.Context, connections int) (float64, error) {
	socket := filepath.Join(processPart{Cell: s.where}.echoDir(), "socket")
	ctx, cancel := context.WithTimeoutCause(ctx, limitTime, nil)
	defer cancel()
	request := make([]byte, frameBytes)
	var answered atomic.Int64
	var asking sync.WaitGroup
	failed := make(chan error, connections)
	begun := time.Now()
	for range connections {
		c, err := bus.Connect(bus.ConnOptions{Socket: socket, Identity: bus.Identity{Role: bus.User}})
		if err != nil {
			return 0, fmt.Errorf("echo: %w", err)
		}
		defer c.Close()
		asking.Go(func() {
			for ctx.Err() == nil {
				if _, err := c.Ask(ctx, "echo", request); err != nil && ctx.Err() == nil {
					failed <- err
					return
				}
				answered.Add(1)
			}
		})
	}
	asking.Wait()
	select {
	case err := <-failed:
		return 0, fmt.Errorf("echo: %w", err)
	default:
		return float64(answered.Load()) / time.Since(begun).Seconds(), nil
	}
}
