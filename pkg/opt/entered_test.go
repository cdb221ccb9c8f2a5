package opt

import (
	"io"
	"testing"

	"github.com/urfave/cli/v2"
)

// TestEntered: the command has the options that were set, in words that a shell reads back.
func TestEntered(t *testing.T) {
	got := ""
	app := &cli.App{Name: "quill", Writer: io.Discard, Commands: []*cli.Command{{
		Name: "sim",
		Flags: []cli.Flag{&cli.StringFlag{Name: "trace"}, &cli.IntFlag{Name: "first", Value: 3},
			&cli.StringSliceFlag{Name: "config"}, &cli.BoolFlag{Name: "json"},
			&cli.StringFlag{Name: "plot"}, &cli.Float64Flag{Name: "load"}, &cli.StringFlag{Name: "shares"}},
		Action: func(c *cli.Context) error { got = Entered(c); return nil },
	}}}
	if err := app.Run([]string{"quill", "sim", "--config", "a b", "--json", "--trace=it's.swf", "--config", "c.conf",
		"--load", "1.5", "--shares", ""}); err != nil {
		t.Fatal(err)
	}
	if want := `quill sim --trace 'it'\''s.swf' --config 'a b' --config c.conf --json --load 1.5 --shares ''`; got !=
		want {
		t.Errorf("%s\nnot %s", got, want)
	}
}
