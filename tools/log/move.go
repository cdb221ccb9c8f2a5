package log

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/archive"
	"github.com/quill-grid/quill/pkg/bus"
	_ "github.com/quill-grid/quill/pkg/bus/embedded" // the server of the store that moves
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/opt"
)

func (c command) move() *cli.Command {
	return &cli.Command{
		Name: "move", Usage: "move the log of a stopped cell to an external NATS server, or back",
		Description: "Run it on qmaster's host as the user who runs qmaster, while no qmaster runs. The log continues where\n" +
			"it ended, as if it had always been there; what was before goes to the cell's segments/. What\n" +
			"schedulers have ordered so far is not copied.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "nats", Usage: "`URL` of the external server",
				DefaultText: "with --back, where the log was moved to"},
			&cli.StringFlag{Name: "nats-seed", Usage: "`FILE` with the seed of qmaster's key",
				DefaultText: "that of \"quill key qmaster\""},
			&cli.IntFlag{Name: "replicas", Usage: "`N` copies of the log, on the external servers",
				DefaultText: "1, with --back as many as there are"},
			&cli.BoolFlag{Name: "back", Usage: "move it from the external server to the cell's directory"},
			&cli.StringFlag{Name: "tls-cert", Usage: "PEM `FILE` with the certificate of this host"},
			&cli.StringFlag{Name: "tls-key", Usage: "PEM `FILE` with its private key"},
			&cli.StringFlag{Name: "tls-ca", Usage: "PEM `FILE` with the authorities that verify the server's certificate"},
			opt.JSONFlag(),
		},
		Action: c.moveLog,
	}
}

// logLocation is where a log lies: the cell's directory or an external server.
type logLocation struct {
	name     string
	conn     *bus.Conn
	replicas int
	snaps    *archive.Snapshots
	close    []func()
}

func (p *logLocation) leave() {
	for i := len(p.close) - 1; i >= 0; i-- {
		p.close[i]()
	}
}

var self = bus.Identity{Role: bus.QMaster, Name: "qmaster"}

func (c command) moveLog(x *cli.Context) error {
	if x.Args().Present() {
		return opt.Usagef("log move takes no %q", x.Args().First())
	}
	cell, err := cell.FindIn(c.env.Getenv)
	if err == nil {
		err = cell.Check()
	}
	if err != nil {
		return err
	}
	moved := filepath.Join(cell.Dir(), history.StoreDir, history.MovedFile)
	url := x.String("nats")
	if url == "" {
		text, err := os.ReadFile(moved)
		switch {
		case !x.Bool("back"):
			return opt.Usagef("log move needs --nats URL, the external server")
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("the log of cell %s was not moved: there is no %s; name its server with --nats", cell.Name, moved)
		case err != nil:
			return err
		}
		url = strings.TrimSpace(string(text))
	}
	if !x.Bool("back") {
		if err := checkWhole(cell); err != nil {
			return err
		}
	}
	here, err := inDirectory(cell)
	if err != nil {
		return err
	}
	defer here.leave()
	there, err := c.onServer(x, cell, url)
	if err != nil {
		return err
	}
	defer there.leave()
	from, to := here, there
	if x.Bool("back") {
		from, to = there, here
	}
	end, err := transfer(cell, from, to, func() error {
		if x.Bool("back") {
			return os.Remove(moved)
		}
		return os.WriteFile(moved, []byte(url+"\n"), 0o600)
	})
	if err != nil {
		return err
	}
	return c.env.Did(x,
		document.Result{Did: "moved", Text: fmt.Sprintf("the log of cell %s continues after %s in %s", cell.Name,
			c.mark(end), to.name)})
}

// checkWhole fails if a server would cut the log of a cell that does not run: what was cut would not be moved.
func checkWhole(cell cell.Cell) error {
	dir := filepath.Join(cell.Dir(), history.StoreDir)
	from := archive.ReadSnapshots(filepath.Join(cell.Dir(), history.SnapshotsDir)).NewestPoint()
	found, err := bus.CheckLog(dir, filepath.Join(dir, history.MarkFile), from.Stream)
	if err != nil || found.Whole {
		return inUse(err)
	}
	return errors.New("the log is damaged, and not moved: quill log verify names the position. Start and stop qmaster first")
}

// inUse returns what to do in place of bus.ErrInUse, and other errors as they are.
func inUse(err error) error {
	if errors.Is(err, bus.ErrInUse) {
		return errors.New("qmaster runs: stop it first")
	}
	return err
}

// inDirectory is the cell's own directory, which no other process uses from now on.
func inDirectory(cell cell.Cell) (*logLocation, error) {
	dir := filepath.Join(cell.Dir(), history.StoreDir)
	server, err := bus.Start(bus.ServerOptions{Dir: dir, Durable: true})
	if err != nil {
		return nil, inUse(err)
	}
	p := &logLocation{name: dir, replicas: 1, close: []func(){server.Stop}}
	if p.conn, err = server.Connect(self); err == nil {
		p.close = append(p.close, p.conn.Close)
		p.snaps, err = archive.OpenSnapshots(filepath.Join(cell.Dir(), history.SnapshotsDir))
	}
	if err != nil {
		p.leave()
		return nil, err
	}
	return p, nil
}

// onServer is the external server, of which we have the lease from now on.
func (c command) onServer(x *cli.Context, cell cell.Cell, url string) (*logLocation, error) {
	o := bus.ConnOptions{
		URL: url, Identity: self, Seed: x.String("nats-seed"),
		TLS: bus.TLSFiles{Cert: x.String("tls-cert"), Key: x.String("tls-key"), CA: x.String("tls-ca")},
	}
	if o.Seed == "" {
		o.Seed = cell.IssuedKey(self)
	}
	conn, err := bus.Connect(o)
	if err != nil {
		return nil, fmt.Errorf("NATS server %s: %w", o.URL, err)
	}
	p := &logLocation{name: o.URL, conn: conn, replicas: x.Int("replicas"), close: []func(){conn.Close}}
	switch {
	case p.replicas == 0 && x.Bool("back"):
		if p.replicas, err = bus.Replicas(conn); err != nil {
			p.leave()
			return nil, err
		}
	case p.replicas == 0:
		p.replicas = 1
	}
	ctx, cancel := context.WithCancel(x.Context)
	defer cancel()
	lease, err := bus.AcquireLease(ctx, conn, bus.LeaseOptions{Name: self.Name, Holder: c.env.Host, Replicas: p.replicas,
		Waiting: func(why error) {
			if errors.Is(why, bus.ErrLed) {
				cancel() // a qmaster is not waited for
				return
			}
			fmt.Fprintln(c.env.Stderr, "quill log: waiting for", why)
		}})
	if errors.Is(err, bus.ErrLed) {
		err = fmt.Errorf("qmaster runs: stop it first (%w)", err)
	}
	if err == nil {
		p.close = append(p.close, func() { lease.Release() })
		p.snaps, err = bus.OpenSnapshotBucket(conn, p.replicas)
	}
	if err != nil {
		p.leave()
		return nil, err
	}
	return p, nil
}

// transfer has the log of one place continue in another, which must be empty. note
// writes down where it is. Wherever this ends, one of them can be started, and
// moving can be begun again.
func transfer(cell cell.Cell, from, to *logLocation, note func() error) (end history.Mark, err error) {
	log, err := bus.Open(from.conn, bus.LogOptions{Existing: true, Replicas: from.replicas})
	if err != nil {
		return end, err
	}
	segments, err := archive.OpenSegments(filepath.Join(cell.Dir(), history.SegmentsDir))
	if err != nil {
		return end, err
	}
	at, err := from.snaps.Newest(func(string, error) {}, func([]byte) error { return nil })
	if err != nil {
		return end, err
	}
	last, err := log.Read(at, func(frame.Frame) error { return nil })
	if err != nil {
		return end, fmt.Errorf("the log is not moved: %w", err)
	}
	past, err := history.Within(cell.Name, log, from.conn, from.snaps, segments)
	if err != nil {
		return end, err
	}
	defer past.Close()
	next, err := bus.Open(to.conn, bus.LogOptions{Replicas: to.replicas, First: last.Stream + 1})
	if err != nil {
		return end, err
	}
	if holds, err := next.HasMessages(); err != nil || holds {
		return end, errors.Join(err, notEmpty(to))
	}
	if points, err := to.snaps.Points(); err != nil || len(points) > 1 || len(points) == 1 && points[last.Seq] == "" {
		return end, errors.Join(err, notEmpty(to))
	}
	full, err := past.Full(last.Seq)
	if err != nil {
		return end, err
	}
	if err := to.snaps.Write(last, history.Chunks(full)); err != nil {
		return end, err
	}
	if err := note(); err != nil {
		return end, err
	}
	return past.Store().Last, errors.Join(from.snaps.Clear(), log.ExportAndDelete(segments))
}

func notEmpty(p *logLocation) error {
	return fmt.Errorf("%s is not empty: it holds a log already", strings.TrimSuffix(p.name, "/"))
}
