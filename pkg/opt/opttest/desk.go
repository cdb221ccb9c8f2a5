package opttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/kballard/go-shellquote"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/opt"
)

// Desk is the environment of a user in a test: a working directory, variables, and a
// qmaster that replies as the test has set.
type Desk struct {
	t       *testing.T
	run     func(opt.Env, []string) int
	dir     string
	vars    map[string]string
	replies []reply
	connect error
	cancel  context.CancelFunc // of the running command
	log     bytes.Buffer       // what the running command asked
}

// New makes a desk for a command. Its home is <dir>, its time
// 2026-11-20 22:16:17 UTC, its user alice on host h1.
func New(t *testing.T, run func(opt.Env, []string) int) *Desk {
	return &Desk{t: t, run: run, dir: t.TempDir(), vars: map[string]string{
		"LOGNAME": "alice", "HOME": "<dir>", "PATH": "/usr/bin:/bin", "SHELL": "/bin/bash", "SGE_ROOT": "<dir>/sge",
	}}
}

// Step is a step that a command's own transcripts have beside those of Desk.Do.
type Step func(d *Desk, args []string)

// Transcripts runs the sessions in a folder, each at a desk of its own.
func Transcripts(t *testing.T, folder string, run func(opt.Env, []string) int, own map[string]Step) {
	datadriven.Walk(t, folder, func(t *testing.T, path string) {
		desk := New(t, run)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var args []string
			for _, a := range d.CmdArgs {
				args = append(args, a.String())
			}
			if step := own[d.Cmd]; step != nil {
				step(desk, args)
				return ""
			}
			return desk.Do(d.Cmd, args, d.Input)
		})
	})
}

// Do carries out one step of a transcript and returns what is to be seen:
//
//	file PATH     makes a file of the input, program PATH one that can be run
//	setenv        NAME=VALUE lines; NAME alone removes it
//	reply         what qmaster says next, see parseReply
//	unreachable   there is no qmaster
//	run [stdin=PATH]  a command line, without the name of the command
func (d *Desk) Do(cmd string, args []string, input string) string {
	input = d.real(input)
	switch cmd {
	case "file", "program":
		path := filepath.Join(d.dir, args[0])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			d.t.Fatal(err)
		}
		mode := map[string]os.FileMode{"file": 0o644, "program": 0o755}[cmd]
		if err := os.WriteFile(path, []byte(input+"\n"), mode); err != nil {
			d.t.Fatal(err)
		}
	case "setenv":
		for _, line := range strings.Split(input, "\n") {
			name, value, set := strings.Cut(line, "=")
			if d.vars[name] = value; !set {
				delete(d.vars, name)
			}
		}
	case "reply":
		d.replies = append(d.replies, parseReply(d.t, input))
	case "unreachable":
		d.connect = errors.New("commlib error: got select error (Connection refused)")
	case "run":
		var stdin string
		for _, a := range args {
			stdin = strings.TrimPrefix(a, "stdin=")
		}
		return d.command(input, stdin)
	default:
		d.t.Fatalf("unknown step %q", cmd)
	}
	return ""
}

func (d *Desk) command(line, stdin string) string {
	words, err := shellquote.Split(line)
	if err != nil {
		d.t.Fatal(err)
	}
	var in []byte
	if stdin != "" {
		if in, err = os.ReadFile(filepath.Join(d.dir, stdin)); err != nil {
			d.t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	d.cancel = cancel
	d.log.Reset()
	var stdout, stderr bytes.Buffer
	env := opt.Env{
		Stdin: bytes.NewReader(in), Stdout: &stdout, Stderr: &stderr,
		Dir: d.dir, Host: "h1",
		Connect: func(context.Context) (client.Client, error) { return qmaster{d}, d.connect },
		Now:     func() time.Time { return time.Date(2026, 11, 20, 22, 16, 17, 0, time.UTC) },
		Context: ctx,
	}
	code := d.run(env.WithEnviron(d.environ()), words)
	if out := stdout.String(); IsDocument(out) {
		if err := CheckDocument(out); err != nil {
			d.t.Error(err)
		}
	}
	if len(d.replies) > 0 {
		d.t.Errorf("%s: %d replies are left", line, len(d.replies))
		d.replies = nil
	}
	d.connect = nil
	out := d.log.String() + prefixed("1>", stdout.String()) + prefixed("2>", stderr.String())
	return d.shown(fmt.Sprintf("%sexit %d\n", out, code))
}

func (d *Desk) environ() (list []string) {
	for name := range d.vars {
		list = append(list, name+"="+d.real(d.vars[name]))
	}
	return list
}

// real and shown change between the working directory and <dir>.
func (d *Desk) real(s string) string  { return strings.ReplaceAll(s, "<dir>", d.dir) }
func (d *Desk) shown(s string) string { return strings.ReplaceAll(s, d.dir, "<dir>") }

func prefixed(mark, text string) string {
	var b strings.Builder
	for _, line := range strings.SplitAfter(text, "\n") {
		switch {
		case line == "":
		case line == "\n":
			b.WriteString(mark + "\n")
		case strings.HasSuffix(line, "\n"):
			b.WriteString(mark + " " + line)
		default:
			b.WriteString(mark + " " + line + "(no newline)\n")
		}
	}
	return b.String()
}
