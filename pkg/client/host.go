package client

import (
	"context"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/report"
)

// Host is execd's way to qmaster and back.
type Host struct {
	remote   *Remote
	name     string
	commands chan report.Command
	cancel   context.CancelFunc
	done     chan struct{}
}

// ConnectHost connects the execution daemon of host. It waits for qmaster as
// long as ctx allows, and when the connection breaks later it comes back by
// itself.
func (c Cell) ConnectHost(ctx context.Context, host string) (*Host, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	r := &Remote{cell: c, lost: make(chan struct{}, 1)}
	r.dial = func() (*bus.Conn, error) {
		return c.open(bus.Identity{Role: bus.Host, Name: host}, r.tellLost)
	}
	return r.Host(ctx, host)
}

// Host is ConnectHost over this Remote, which must connect as the host.
func (r *Remote) Host(ctx context.Context, name string) (*Host, error) {
	h := &Host{remote: r, name: name, commands: make(chan report.Command, 16), done: make(chan struct{})}
	r.patient = true
	stay, cancel := context.WithCancel(context.Background())
	h.cancel = cancel
	r.greet = func(conn *bus.Conn) error { return h.listen(stay, conn) }
	if err := r.try(ctx, func(*bus.Conn) error { return nil }); err != nil {
		cancel()
		return nil, err
	}
	go h.stay(stay)
	return h, nil
}

// listen has a new connection deliver commands.
func (h *Host) listen(ctx context.Context, conn *bus.Conn) error {
	_, err := conn.Serve(bus.HostCmdSubject(h.name), func(r *bus.Request) {
		c, err := codec.DecodeCommand(r.Data)
		if err != nil {
			return // of a newer qmaster: it is told again, and the log there says so
		}
		select {
		case h.commands <- c:
		case <-ctx.Done():
		}
	})
	return err
}

// stay connects again whenever the connection breaks.
func (h *Host) stay(ctx context.Context) {
	defer close(h.done)
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.remote.lost:
		}
		h.remote.drop(h.remote.current())
		h.remote.try(ctx, func(*bus.Conn) error { return nil })
	}
}

// Report sends a report and returns when qmaster has it durably; it is repeated
// until then or until ctx ends.
func (h *Host) Report(ctx context.Context, r report.Report) (report.Receipt, error) {
	data := codec.AppendReport(nil, r)
	var receipt report.Receipt
	err := h.remote.try(ctx, func(conn *bus.Conn) error {
		answer, err := conn.Request(ctx, bus.HostRepSubject(h.name), data)
		if err == nil {
			receipt, err = codec.DecodeReceipt(answer)
		}
		return err
	})
	return receipt, err
}

// Load publishes load values: nobody answers, the latest wins.
func (h *Host) Load(r report.Report) error {
	conn := h.remote.current()
	if conn == nil {
		return bus.ErrLost
	}
	return conn.Publish(bus.LoadSubject(h.name), codec.AppendReport(nil, r))
}

// Commands delivers what qmaster tells this host, in order.
func (h *Host) Commands() <-chan report.Command { return h.commands }

// Close ends the connection and then the channel of commands.
func (h *Host) Close() error {
	h.cancel()
	<-h.done
	return h.remote.Close()
}
