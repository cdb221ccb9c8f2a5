package qping

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/switches"
)

// question is the command line.
type question struct {
	endpoint
	every      time.Duration
	once, full bool
	words      []string
}

// endpoint names a daemon as Grid Engine does.
type endpoint struct{ host, port, name, id string }

func (e endpoint) String() string {
	return fmt.Sprintf("endpoint %s/%s/%s at port %s", e.host, e.name, e.id, e.port)
}

var command = &switches.Command[question]{
	Name: "qping", Usage: "[-help] [-i <interval>] [-info] [-f] [-ping] <host> <port> <name> <id>", Indent: 3, Column: 14,
	Switches: []switches.Switch[question]{
		{Name: "help", Help: "show this info"},
		{Name: "i", Args: "interval", Help: "set ping interval time", Take: switches.One, Set: setInterval},
		{Name: "info", Help: "show full status information and exit", Set: func(q *question, _ []string) error {
			q.once, q.full = true, true
			return nil
		}},
		{Name: "f", Help: "show full status information on each ping interval",
			Set: switches.Flag(func(q *question) *bool { return &q.full })},
		{Name: "ping", Help: "show once how long qmaster has been up, and exit",
			Set: switches.Flag(func(q *question) *bool { return &q.once })},
		{Name: "noalias", Help: "accepted: there is no host_aliases file"},
		{Name: "tcp", Refused: "the connection is that of the cell"},
		{Name: "ssl", Refused: "the connection is that of the cell"},
		{Name: "dump", Refused: "use qevent or quill log to see what happens"},
		{Name: "dump_tag", Refused: "use qevent or quill log to see what happens"},
		{Name: "nonewline", Refused: "there is no dump output"},
	},
	Operand: func(q *question, rest []string) (int, error) {
		q.words = append(q.words, rest[0])
		return 1, nil
	},
	Unknown: func(word string) error { return switches.Errorf("unexpected dash option %q", word) },
}

func setInterval(q *question, w []string) error {
	n, err := strconv.ParseUint(w[0], 10, 31)
	if err != nil || n == 0 {
		return switches.Errorf("%q is no interval in seconds", w[0])
	}
	q.every = time.Duration(n) * time.Second
	return nil
}

// App is the command for urfave/cli.
func App(env opt.Env) *cli.App { return opt.App(env, command, ping) }

// Run is the whole command; it returns the exit status: 1 when qmaster cannot be
// reached.
func Run(env opt.Env, args []string) int { return opt.RunApp(env, App(env), args) }

func ping(ctx context.Context, env opt.Env, q *question) int {
	if err := q.check(); err != nil {
		return opt.Complain(env, command, err)
	}
	if q.every == 0 {
		q.every = time.Second
	}
	for id := 1; ; id++ {
		s, err := ask(ctx, env, q.endpoint)
		switch {
		case ctx.Err() != nil:
			return 1
		case err != nil:
			fmt.Fprintln(env.Stderr, err)
			fmt.Fprintf(env.Stderr, "%s: can't find connection\n", q.endpoint)
		case q.full:
			fmt.Fprint(env.Stdout, s.block(env.Now(), id))
		default:
			fmt.Fprintf(env.Stdout, "%s %s is up for %d seconds\n", stamp(env.Now()), q.endpoint, s.up(env.Now()))
		}
		if q.once && err != nil {
			return 1
		}
		if q.once {
			return 0
		}
		select {
		case <-ctx.Done():
			return 1
		case <-time.After(q.every):
		}
	}
}

// check reads the operands: host, port, name and number of a daemon.
func (q *question) check() error {
	if len(q.words) != 4 {
		return &switches.Error{Text: "no option argument: give <host> <port> <name> <id>", Help: true}
	}
	q.endpoint = endpoint{q.words[0], q.words[1], q.words[2], q.words[3]}
	if n, err := strconv.ParseUint(q.port, 10, 16); err != nil || n == 0 {
		return switches.Errorf("please enter a port number larger than 0")
	}
	if n, err := strconv.ParseUint(q.id, 10, 31); err != nil || n == 0 {
		return switches.Errorf("please enter a component id larger than 0")
	}
	if q.name != "qmaster" || q.id != "1" {
		return switches.Errorf("%s/%s is not supported: only qmaster/1 can be asked; qhost shows which hosts are up", q.name,
			q.id)
	}
	return nil
}

// status is what qmaster says of itself.
type status struct {
	start time.Time
	info  string
}

// ask asks qmaster; the error says that it does not answer, or runs elsewhere.
func ask(ctx context.Context, env opt.Env, e endpoint) (s status, err error) {
	c, err := env.Connect(ctx)
	if err != nil {
		return s, err
	}
	defer c.Close()
	return answer(ctx, c, e)
}

func answer(ctx context.Context, c client.Client, e endpoint) (s status, err error) {
	reply, err := c.Do(ctx, "qping", &gdi.Trigger{Action: "ping"})
	if err != nil {
		return s, err
	}
	if !reply.OK() || len(reply.Answers) != 3 {
		return s, fmt.Errorf("qmaster does not say how it is")
	}
	host := reply.Answers[0].Text
	if short, _, _ := strings.Cut(host, "."); e.host != host && e.host != short && e.host != "localhost" {
		return s, fmt.Errorf("qmaster runs on host %q, not on %q", host, e.host)
	}
	seconds, err := strconv.ParseInt(reply.Answers[1].Text, 10, 64)
	return status{time.Unix(seconds, 0), reply.Answers[2].Text}, err
}

func stamp(t time.Time) string { return t.Format("01/02/2006 15:04:05") }

func (s status) up(now time.Time) int64 { return max(0, int64(now.Sub(s.start)/time.Second)) }

// block is Grid Engine's, with the lines that mean something here.
func (s status) block(now time.Time, id int) string {
	return fmt.Sprintf(
		"%s:\nSIRM message id:          %d\nstart time:               %s (%d)\nrun time [s]:             %d\nstatus:                   0\ninfo:                     %s\n\n",
		stamp(now), id, stamp(s.start), s.start.Unix(), s.up(now), s.info)
}
