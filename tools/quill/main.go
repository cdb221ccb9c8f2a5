package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/quill-grid/quill/pkg/opt"
)

func main() { os.Exit(run(filepath.Base(os.Args[0]), os.Args[1:])) }

// run runs the program of that name, or quill, in this process.
func run(name string, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	env := opt.Here(ctx)
	if p := gridEngine[name]; p != nil {
		return p(env, args)
	}
	return quill(env, args)
}
