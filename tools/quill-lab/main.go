// Command quill-lab is the laboratory in a binary of its own; quill starts it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/lab"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(lab.Run(opt.Here(ctx), os.Args[1:]))
}
