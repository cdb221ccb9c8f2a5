package opt

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Main runs a program in this process and exits with its status. The first SIGINT
// or SIGTERM ends the context of its environment; the second ends the process at
// once, as one would that hangs while it stops.
func Main(run func(Env) int) {
	ctx, end := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals) // from now on they do what they do by default
		end()
	}()
	os.Exit(run(Here(ctx)))
}
