package main

import (
	"os"
	"path/filepath"

	"github.com/quill-grid/quill/pkg/opt"
)

// main runs the program by whose name this one was started, or quill.
func main() {
	opt.Main(func(env opt.Env) int {
		run := gridEngine[filepath.Base(os.Args[0])]
		if run == nil {
			run = quill
		}
		return run(env, os.Args[1:])
	})
}
