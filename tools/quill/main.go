package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/opt"
)

func main() { os.Exit(run(filepath.Base(os.Args[0]), os.Args[1:])) }

// run runs the program of that name, or quill, in this process.
func run(name string, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	env := environment(ctx)
	if p := gridEngine[name]; p != nil {
		return p(env, args)
	}
	return quill(env, args)
}

// environment is what this process gives its command.
func environment(ctx context.Context) opt.Env {
	dir, _ := os.Getwd()
	host, _ := os.Hostname()
	return opt.Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Environ: os.Environ(), Dir: dir, Host: host,
		Connect: client.Connect, Now: time.Now, Context: ctx,
	}
}
