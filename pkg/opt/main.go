package opt

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"
)

// Main runs a program in this process and exits with its status. The first SIGINT or
// SIGTERM ends the context of its environment and, unless the program StopsItself, the
// process soon after, even if it is blocked. The second ends the process at once. SIGINT is
// for the program that it converses with, see Converse. A program that could not write its output exits with an error.
// This is not detected when the process was started without a standard output: the Go runtime then opens /dev/null in
// its place.
func Main(run func(Env) int) {
	ctx, end := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	cli.HelpPrinterCustom = printPage
	env := Here(ctx)
	env.orderly, env.talking = new(atomic.Bool), new(atomic.Bool)
	go func() {
		s := <-signals
		for s == os.Interrupt && env.talking.Load() {
			s = <-signals
		}
		signal.Stop(signals) // from now on they do what they do by default
		end()
		time.Sleep(stopGrace)
		if !env.orderly.Load() {
			_ = syscall.Kill(os.Getpid(), s.(syscall.Signal))
		}
	}()
	printed := &output{file: os.Stdout}
	if _, err := unix.IoctlGetTermios(int(os.Stdout.Fd()), unix.TCGETS); err != nil { // else programs draw on it
		env.Stdout = printed
	}
	status := run(env)
	if err := printed.failed.Load(); err != nil && status == 0 {
		fmt.Fprintln(os.Stderr, "error:", *err)
		status = 1
	}
	os.Exit(status)
}

// stopGrace is how long a command may continue after the first signal.
const stopGrace = time.Second

// output is a file that records whether a write has failed.
type output struct {
	file   *os.File
	failed atomic.Pointer[error]
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.file.Write(b)
	if err != nil {
		o.failed.CompareAndSwap(nil, &err)
	}
	return n, err
}
