package opt

import "github.com/urfave/cli/v2"

// JSONFlag is --json of a command whose output is one document of pkg/document.
func JSONFlag() cli.Flag { return &cli.BoolFlag{Name: "json", Usage: "print one JSON document"} }
