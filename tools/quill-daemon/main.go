// Command quill-daemon is the daemons in a binary of their own; quill starts it.
//
// It must not know its commands. To add one: see package serve.
package main

import (
	"os"

	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/quill-daemon/serve"
)

func main() { opt.Main(func(env opt.Env) int { return serve.Run(env, os.Args[1:]) }) }
