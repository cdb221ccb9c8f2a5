package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sys/unix"
)

// LogOptions say how a daemon logs.
type LogOptions struct {
	Level string    // trace, debug, info, warn, error, off; "": info
	JSON  bool      // one JSON object a line instead of text
	To    io.Writer // nil: standard error
}

// Log is the log of the daemon called name.
func Log(name string, o LogOptions) (hclog.Logger, error) {
	level := hclog.Info
	if o.Level != "" {
		if level = hclog.LevelFromString(o.Level); level == hclog.NoLevel {
			return nil, fmt.Errorf("log level %q is none of trace, debug, info, warn, error, off", o.Level)
		}
	}
	if o.To == nil {
		o.To = os.Stderr
	}
	return hclog.New(&hclog.LoggerOptions{Name: name, Level: level, JSONFormat: o.JSON, Output: o.To}), nil
}

// Options say how a daemon runs.
type Options struct {
	Name    string
	PidFile string       // "": none
	Log     hclog.Logger // nil: silent
}

// ErrRunning is wrapped when the pid file belongs to a daemon that runs.
var ErrRunning = errors.New("already running")

// Run does work until it returns. The context it gets ends with ctx or with the
// first SIGTERM or SIGINT; a second signal ends the process at once. The pid
// file is there while work runs, and is locked, so that one left over by a crash
// is in nobody's way.
func Run(ctx context.Context, o Options, work func(context.Context) error) error {
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	if o.PidFile != "" {
		f, err := takePidFile(o.PidFile)
		if err != nil {
			return fmt.Errorf("%s: %w", o.Name, err)
		}
		defer f.Close()
		defer os.Remove(o.PidFile)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case s := <-signals:
			o.Log.Info("stopping", "signal", s.String())
		case <-ctx.Done():
		}
		signal.Stop(signals) // from now on a signal does what it does by default
		cancel()
	}()
	o.Log.Info("started", "pid", os.Getpid())
	err := work(ctx)
	cancel()
	<-watched
	if err != nil {
		o.Log.Error("failed", "error", err)
		return fmt.Errorf("%s: %w", o.Name, err)
	}
	o.Log.Info("stopped")
	return nil
}

func takePidFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("pid file: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close()
		pid := make([]byte, 32)
		n, _ := f.Read(pid)
		return nil, fmt.Errorf("%w as process %s, says %s", ErrRunning, strings.TrimSpace(string(pid[:n])), path)
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteString(strconv.Itoa(os.Getpid()) + "\n")
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("pid file: %w", err)
	}
	return f, nil
}
