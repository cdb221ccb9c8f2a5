// Package daemon is what every daemon of a cell does apart from its work: it
// logs, writes its pid file, and stops when it is told to. It knows hclog and
// signals, and nothing of Grid Engine.
//
//	log, err := daemon.Log("qmaster", daemon.LogOptions{Level: "info"})
//	err = daemon.Run(ctx, daemon.Options{Name: "qmaster", PidFile: path, Log: log}, func(ctx context.Context) error {
//		… work until ctx is done, then clean up and return
//	})
//
// Several of them may run in one process: Run takes signals only for its own
// context, and only one pid file belongs to one daemon.
package daemon
