// Command quill-lab is the laboratory in a binary of its own; quill starts it.
//
// It must not know its commands. To add one: see package lab.
package main

import (
	"os"

	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/quill-lab/lab"
)

func main() { opt.Main(func(env opt.Env) int { return lab.Run(env, os.Args[1:]) }) }
