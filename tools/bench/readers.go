package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// discard opens the event stream over many connections and has the system discard what comes, until ctx ends.
func (p processPart) discard(ctx context.Context, ready func()) error {
	at, err := url.Parse(p.URL)
	if err != nil {
		return err
	}
	var reading sync.WaitGroup
	for range p.Readers {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", at.Host)
		if err != nil {
			return err
		}
		defer c.Close()
		fmt.Fprintf(c, "GET /v1/events HTTP/1.1\r\nHost: %s\r\nAccept-Encoding: gzip\r\nAuthorization: Bearer %s\r\n\r\n",
			at.Host, p.Token)
		answer, err := http.ReadResponse(bufio.NewReaderSize(c, 1024), nil)
		if err != nil {
			return err
		}
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("GET /v1/events: %s", answer.Status)
		}
		context.AfterFunc(ctx, func() { c.Close() })
		reading.Go(func() { discardAll(c.(*net.TCPConn)) })
	}
	ready()
	reading.Wait()
	return nil
}

// discardAll discards what comes over a connection. The system copies nothing, tcp(7).
func discardAll(c *net.TCPConn) {
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	nothing := make([]byte, 1<<20)
	for over := false; !over; {
		err := raw.Read(func(fd uintptr) bool {
			n, _, err := unix.Recvfrom(int(fd), nothing, unix.MSG_TRUNC|unix.MSG_DONTWAIT)
			if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR) {
				return false
			}
			over = err != nil || n == 0
			return true
		})
		over = over || err != nil
	}
}

// compute keeps all processors busy until ctx ends.
func compute(ctx context.Context, ready func()) error {
	var working sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		working.Go(func() {
			for n := 0; n%(1<<20) != 0 || ctx.Err() == nil; n++ {
			}
		})
	}
	ready()
	working.Wait()
	return nil
}

// idle has the threads of this process run only when no others want to. Threads that are made later inherit it.
func idle() error {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range tasks {
		id, err := strconv.Atoi(t.Name())
		if err == nil {
			err = unix.SchedSetAttr(id, &unix.SchedAttr{Policy: unix.SCHED_IDLE}, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
