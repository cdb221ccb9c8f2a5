package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// frameBytes is the size of a record of one job in the log.
const frameBytes = 700

// syncRate is how many records a second one writer appends and syncs on the
// disk of dir.
func syncRate(dir string) (float64, error) {
	took, err := syncs(dir, limitTime)
	var all time.Duration
	for _, d := range took {
		all += d
	}
	return float64(len(took)) / all.Seconds(), err
}

// syncs is how long appending and syncing a record takes, again and again for
// the given time.
func syncs(dir string, during time.Duration) (took durations, err error) {
	f, err := os.CreateTemp(dir, "sync")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	record := make([]byte, frameBytes)
	for begun := time.Now(); time.Since(begun) < during; {
		before := time.Now()
		if _, err := f.Write(record); err != nil {
			return nil, err
		}
		if err := f.Sync(); err != nil {
			return nil, err
		}
		took = append(took, time.Since(before))
	}
	return took, nil
}

// spawnRate is how many processes a second the given number of workers start
// and wait for, with nothing else to do.
func spawnRate(workers, n int, program string) (float64, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	var next atomic.Int64
	var all sync.WaitGroup
	failed := make(chan error, workers)
	begun := time.Now()
	for range workers {
		all.Go(func() {
			for next.Add(1) <= int64(n) {
				p, err := os.StartProcess(program, []string{program}, &os.ProcAttr{Files: []*os.File{null, null, null}})
				if err == nil {
					_, err = p.Wait()
				}
				if err != nil {
					failed <- err
					return
				}
			}
		})
	}
	all.Wait()
	took := time.Since(begun)
	select {
	case err := <-failed:
		return 0, err
	default:
		return float64(n) / took.Seconds(), nil
	}
}

// commandRate is how many commands a second run one after the other; command
// makes the next.
func commandRate(n int, command func() *exec.Cmd) (rate float64, took durations, err error) {
	begun := time.Now()
	for range n {
		before := time.Now()
		c := command()
		if out, err := c.CombinedOutput(); err != nil {
			return 0, nil, fmt.Errorf("%s: %w: %s", c, err, out)
		}
		took = append(took, time.Since(before))
	}
	return float64(n) / time.Since(begun).Seconds(), took, nil
}

// readTree reads all files below dirs and says how much that was.
func readTree(dirs ...string) (bytes int64, took time.Duration, err error) {
	begun := time.Now()
	for _, dir := range dirs {
		err = errors.Join(err, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			n, err := io.Copy(io.Discard, bufio.NewReaderSize(onlyReader{f}, 1<<20))
			bytes += n
			return err
		}))
	}
	return bytes, time.Since(begun), err
}

// onlyReader keeps io.Copy from shortcuts that do not read.
type onlyReader struct{ io.Reader }

// around measures the limit right before and right after what, and returns the
// mean.
func around(ctx context.Context, limit func() (float64, error), what func() error) (float64, error) {
	before, err := limit()
	if err != nil {
		return 0, err
	}
	if err := what(); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	after, err := limit()
	return (before + after) / 2, err
}
