package cell

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A qmaster that was started and does not serve yet, because it recovers or waits as standby, keeps a file in the cell,
// so that commands wait for it. A file that was not written for startingLife is of a qmaster that was killed.
const (
	startingEvery = 5 * time.Second
	startingLife  = 3 * startingEvery
)

// starting is the directory of these files.
func (c Cell) starting() string { return filepath.Join(c.Dir(), "starting") }

// KeepStarting keeps the file of a qmaster on a host until end is called. The error says why commands may not wait.
func (c Cell) KeepStarting(host string) (end func(), err error) {
	path := filepath.Join(c.starting(), fmt.Sprintf("%s.%d", host, os.Getpid()))
	write := func() error { return os.WriteFile(path, nil, 0o644) }
	if err := errors.Join(os.MkdirAll(c.starting(), 0o755), write()); err != nil {
		return func() {}, fmt.Errorf("commands do not wait while qmaster starts: %w", err)
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(startingEvery)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				os.Remove(path)
				return
			case <-tick.C:
				write() // the next one may do
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}, nil
}

// Starting reports whether a qmaster was started that does not serve yet. Before a cell has served for the first time
// it is false: there is no bootstrap file that says where qmaster will be.
func (c Cell) Starting() bool {
	if _, err := os.Stat(c.Bootstrap()); err != nil {
		return false
	}
	files, err := os.ReadDir(c.starting())
	if err != nil {
		return false
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) < startingLife {
			return true
		}
	}
	return false
}
