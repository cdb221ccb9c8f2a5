package qrsub

import (
	"context"
	"fmt"
	"os/user"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/switches"
)

// App is the command for urfave/cli.
func App(env opt.Env) *cli.App { return opt.App(env, command(env), reserve) }

// Run is the whole command; it returns the exit status.
func Run(env opt.Env, args []string) int { return opt.RunApp(env, App(env), args) }

// booking is the request of the command line.
type booking struct {
	*grid.AR
	line []string
	now  time.Time
}

type sw = switches.Switch[booking]

func command(env opt.Env) *switches.Command[booking] {
	return &switches.Command[booking]{
		Name: "qrsub", Usage: "[options]", Indent: 3, Column: 44, Prefix: "qrsub: ",
		New: func(line []string) *booking {
			return &booking{AR: new(grid.AR), line: line, now: env.Now()}
		},
		Switches: []sw{
			{Name: "a", Args: "date_time", Help: "request a start time", Take: switches.One,
				Set: func(w *booking, words []string) (err error) { w.Start, err = w.dateTime("a", words[0]); return err }},
			{Name: "A", Args: "account_string", Help: "account string in accounting record", Take: switches.One,
				Set: switches.Text(func(w *booking) *string { return &w.Account })},
			{Name: "ckpt", Args: "ckpt-name", Help: "request checkpoint method", Take: switches.One,
				Set: switches.Text(func(w *booking) *string { return &w.Ckpt })},
			{Name: "d", Args: "time", Help: "duration of time window", Take: switches.One, Set: (*booking).duration},
			{Name: "e", Args: "date_time", Help: "request an end time", Take: switches.One,
				Set: func(w *booking, words []string) (err error) { w.End, err = w.dateTime("e", words[0]); return err }},
			{Name: "he", Args: "y[es]|n[o]", Help: "enable/disable hard error handling", Take: switches.One,
				Set: yesNo("he", func(w *booking, yes bool) { w.ErrorHandlingHard = yes })},
			{Name: "help", Help: "print this help"},
			{Name: "l", Args: "resource_list", Help: "request the given resources", Take: switches.One,
				Set: func(w *booking, words []string) error {
					requests, ok := switches.Requests(w.Hard, words[0])
					if !ok {
						return switches.Errorf("Wrong resource list format %q specified to -l option", words[0])
					}
					w.Hard = requests
					return nil
				}},
			{Name: "m", Args: "mail_options", Help: "define mail notification events", Take: switches.One, Set: (*booking).mailOptions},
			{Name: "M", Args: "mail_list", Help: "notify these e-mail addresses", Take: switches.One,
				Set: names("mail list", "M", func(w *booking) *grid.Names { return &w.MailTo })},
			{Name: "masterq", Args: "wc_queue_list", Help: "bind master task to queue(s)", Take: switches.One,
				Set: names("queue list", "masterq", func(w *booking) *grid.Names { return &w.MasterQueues })},
			{Name: "N", Args: "name", Help: "specify name of advance reservation", Take: switches.One,
				Set: func(w *booking, words []string) error {
					if strings.Contains(words[0], "/") {
						return switches.Errorf("argument to -N option must not contain / ")
					}
					w.Name = words[0]
					return nil
				}},
			{Name: "now", Args: "y[es]|n[o]", Help: "consider only interactive queues", Take: switches.One,
				Set: yesNo("now", func(w *booking, yes bool) { w.Interactive = yes })},
			{Name: "pe", Args: "wc_pe_name slot_range", Help: "request slot range for parallel jobs", Take: switches.Two, Missing: "range as 2nd argument",
				Set: func(w *booking, words []string) (err error) {
					w.PE = words[0]
					w.PERange, err = switches.SlotRanges(words[1])
					return err
				}},
			{Name: "q", Args: "wc_queue_list", Help: "reserve in these queue(s)", Take: switches.One,
				Set: names("queue list", "q", func(w *booking) *grid.Names { return &w.Queues })},
			{Name: "u", Args: "wc_user_list", Help: "users and @access lists whose jobs may use it", Take: switches.One,
				Set: names("user list", "u", func(w *booking) *grid.Names { return &w.ACL })},
			{Name: "w", Args: "e|v", Help: "verify mode (error|just verify)", Take: switches.One,
				Set: func(w *booking, words []string) error {
					if words[0] != "e" && words[0] != "v" {
						return switches.Errorf("invalid option argument \"-w %s\"", words[0])
					}
					w.Verify = words[0]
					return nil
				}},
		},
		Legend: legend,
	}
}

const legend = `
account_string          account_name
date_time               [[CC]YY]MMDDhhmm[.SS]
mail_address            username[@host]
mail_list               mail_address[,mail_address,...]
mail_options            ` + "`e' `b' `a' `n'" + ` (end, begin, error, no)
resource_list           resource[=value][,resource[=value],...]
slot_range              [n[-m]|[-]m] - n,m > 0
time                    hours:minutes:seconds | seconds
wc_cqueue               wildcard expression matching a cluster queue
wc_host                 wildcard expression matching a host
wc_hostgroup            wildcard expression matching a hostgroup
wc_qinstance            wc_cqueue@wc_host
wc_qdomain              wc_cqueue@wc_hostgroup
wc_queue                wc_cqueue|wc_qdomain|wc_qinstance
wc_queue_list           wc_queue[,wc_queue,...]
wc_user_list            user|@access_list[,user|@access_list,...]
`

// dateTime reads the value of -a and -e.
func (w *booking) dateTime(name, text string) (grid.Time, error) {
	at, ok := switches.DateTime(text, w.now)
	if !ok {
		return 0, switches.Errorf("Wrong date/time format %q specified to -%s option", text, name)
	}
	return at, nil
}

func (w *booking) duration(words []string) error {
	seconds, ok := grid.ParseTimeSpan(words[0])
	if !ok || seconds >= 1<<32 {
		return switches.Errorf("Wrong time format %q specified to -d option", words[0])
	}
	w.Duration = uint32(seconds)
	return nil
}

// mailOptions reads the letters of -m; several -m add up, n is none.
func (w *booking) mailOptions(words []string) error {
	if strings.Trim(words[0], ",") == "" || strings.Trim(words[0], "aben,") != "" {
		return switches.Errorf("Wrong mail options list format %q specified to -m option", words[0])
	}
	letters := ""
	for _, l := range "abe" {
		if strings.ContainsRune(words[0]+w.MailOptions, l) {
			letters += string(l)
		}
	}
	if strings.Contains(words[0], "n") {
		letters = "n"
	}
	w.MailOptions = letters
	return nil
}

func yesNo(name string, set func(*booking, bool)) func(*booking, []string) error {
	return func(w *booking, words []string) error {
		yes, ok := switches.YesNo(words[0])
		if !ok {
			return switches.Errorf("invalid option argument \"-%s %s\"", name, words[0])
		}
		set(w, yes)
		return nil
	}
}

func names(what, name string, list func(*booking) *grid.Names) func(*booking, []string) error {
	return func(w *booking, words []string) error {
		more := switches.Names(words[0])
		if len(more) == 0 {
			return switches.Errorf("Wrong %s format %q specified to -%s option", what, words[0], name)
		}
		l := list(w)
		for _, n := range more {
			if !l.Has(n) {
				*l = append(*l, n)
			}
		}
		return nil
	}
}

func reserve(ctx context.Context, env opt.Env, said *booking) int {
	c := command(env)
	if len(said.line) == 0 {
		return opt.Complain(env, c, switches.ErrNoOperands)
	}
	// The command line wins over the files, so it is read behind them.
	w := &booking{AR: new(grid.AR), now: said.now}
	if err := opt.ParseAll(env, c, w, "sge_ar_request", said.line); err != nil {
		return opt.Complain(env, c, err)
	}
	for _, u := range w.ACL {
		if _, err := user.Lookup(u); !strings.HasPrefix(u, "@") && err != nil {
			fmt.Fprintf(env.Stderr, "error: %s is not known as a user\n", u)
			return 1
		}
	}
	reply, ok := env.Do(ctx, c.Name, &gdi.Reserve{AR: w.AR})
	if !ok {
		return 1
	}
	return env.Print(reply.Answers)
}
