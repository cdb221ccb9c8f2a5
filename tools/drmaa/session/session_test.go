package session

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/pkg/submit"
	"github.com/quill-grid/quill/pkg/testkit"
	"github.com/quill-grid/quill/tools/daemons/celltest"
)

func TestMain(m *testing.M) { celltest.Main(m) }

// TestSessions plays the transcripts of testdata/cell, each on a cell of its own.
func TestSessions(t *testing.T) {
	datadriven.Walk(t, "testdata/cell", func(t *testing.T, path string) {
		d := &desk{t: t, cell: celltest.Start(t, 1, 4), dir: t.TempDir(), templates: map[string]*Template{},
			waiting: map[string]chan string{}}
		os.Chmod(d.dir, 0o777)
		datadriven.RunTest(t, path, func(t *testing.T, td *datadriven.TestData) string { return d.do(td) })
		if d.session != nil {
			d.session.Close()
		}
	})
}

// desk is the environment of a program that calls DRMAA.
type desk struct {
	t         *testing.T
	cell      *celltest.Cell
	dir       string
	vars      []string
	session   *Session
	contact   string
	templates map[string]*Template
	waiting   map[string]chan string
}

// origin is what jobs that are submitted there take from it.
func (d *desk) origin() submit.Origin {
	environ := append([]string{"SGE_ROOT=" + d.cell.Root, "HOME=" + d.dir, "PATH=/usr/bin:/bin"}, d.vars...)
	o := submit.Here(environ)
	o.Dir, o.Common = d.dir, d.cell.Common()
	return o
}

// words are the names of states and actions in transcripts.
var (
	states = map[State]string{
		QueuedActive: "queued", SystemOnHold: "system hold", UserOnHold: "user hold",
		UserSystemOnHold: "user and system hold",
		Running:          "running", SystemSuspended: "system suspended", UserSuspended: "user suspended",
		UserSystemSuspended: "user and system suspended",
		Done:                "done", Failed: "failed", Undetermined: "undetermined",
	}
	actions = []string{"suspend", "resume", "hold", "release", "terminate"}
)

// patience is for what takes a moment, in seconds.
const patience = int64(testkit.Patience / time.Second)

// do carries out one step:
//
//	open [again]           begin a session, or continue with the last one
//	close                  end it
//	setenv                 NAME=VALUE lines
//	file PATH              a file below the desk's directory
//	template NAME          NAME=VALUE lines, values of vectors divided by |; says what was refused
//	run, bulk NAME         submit it; bulk takes first, last, step
//	state, until ID [...]  where a job is; until waits for that
//	control ID ACTION      or all
//	wait ID [seconds]      with "usage" after it the names of what was used, too
//	sync [dispose] ID...   with for=SECONDS
//	later NAME CALL        any of these, which will not be over soon
//	"told" NAME            what came of it
//	cell stop|start        the whole cell
//	read PATH              a file
func (d *desk) do(td *datadriven.TestData) string {
	var words []string
	for _, a := range td.CmdArgs {
		words = append(words, a.String())
	}
	return d.shown(d.step(td.Cmd, words, strings.ReplaceAll(td.Input, "<dir>", d.dir)))
}

func (d *desk) step(what string, words []string, input string) string {
	switch what {
	case "open":
		contact := ""
		if len(words) > 0 {
			contact = d.contact
			if words[0] != "again" {
				contact = words[0]
			}
		}
		s, err := Open(contact, d.origin)
		if err != nil {
			return formatError(err)
		}
		d.session, d.contact = s, s.Contact()
	case "close":
		return formatError(d.session.Close())
	case "setenv":
		d.vars = strings.Split(input, "\n")
	case "file":
		if err := os.WriteFile(filepath.Join(d.dir, words[0]), []byte(input+"\n"), 0o755); err != nil {
			return err.Error()
		}
	case "read":
		text, err := os.ReadFile(filepath.Join(d.dir, words[0]))
		if err != nil {
			return err.Error()
		}
		return string(text)
	case "template":
		return d.template(words[0], input)
	case "cell":
		if words[0] == "stop" {
			d.cell.Stop()
		} else {
			d.cell.Start()
		}
	case "later":
		printed := make(chan string, 1)
		d.waiting[words[0]] = printed
		d.session.change(func(*sessionLedger) {})
		go func() { printed <- d.call(words[1], words[2:]) }()
		for !d.session.waitedFor() {
			runtime.Gosched()
		}
	case "told":
		return <-d.waiting[words[0]]
	default:
		return d.call(what, words)
	}
	return ""
}

// waitedFor reports whether a call waits for a change.
func (s *Session) waitedFor() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed != nil
}

func (d *desk) call(what string, words []string) string {
	s := d.session
	number := func(n int) (v int) {
		fmt.Sscan(words[n], &v)
		return v
	}
	switch what {
	case "run":
		id, said, err := s.Run(d.templates[words[0]])
		if err != nil {
			return formatError(err)
		}
		return id + ": " + said + "\n"
	case "bulk":
		ids, said, err := s.RunBulk(d.templates[words[0]], uint32(number(1)), uint32(number(2)), number(3))
		if err != nil {
			return formatError(err)
		}
		return strings.Join(ids, " ") + ": " + said + "\n"
	case "state":
		state, err := s.State(words[0])
		if err != nil {
			return formatError(err)
		}
		return states[state] + "\n"
	case "until":
		id, _ := parseID(words[0])
		want := strings.Join(words[1:], " ")
		return formatError(s.await(patience, func(l *sessionLedger) (bool, error) {
			state, ok := l.state(id)
			return ok && states[state] == want, nil
		}))
	case "control":
		return formatError(s.Control(named(words[0]), Action(slices.Index(actions, words[1]))))
	case "wait":
		seconds := patience
		if len(words) > 1 && words[1] != "usage" {
			seconds = int64(number(1))
		}
		end, err := s.Wait(named(words[0]), seconds)
		if end.ID == "" {
			return formatError(err)
		}
		out := end.ID + " " + ended(end.Status) + "\n"
		if words[len(words)-1] == "usage" {
			out += d.usage(end.Usage)
		}
		if err != nil {
			out += formatError(err)
		}
		return out
	case "sync":
		seconds, dispose := patience, false
		var ids []string
		for _, w := range words {
			switch {
			case w == "dispose":
				dispose = true
			case strings.HasPrefix(w, "for="):
				fmt.Sscan(w[4:], &seconds)
			default:
				ids = append(ids, named(w))
			}
		}
		return formatError(s.Synchronize(ids, seconds, dispose))
	}
	d.t.Fatalf("unknown step %q", what)
	return ""
}

// template makes a template of NAME=VALUE lines.
func (d *desk) template(name, input string) (refused string) {
	t := new(Template)
	for line := range strings.Lines(input) {
		attribute, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		attribute = "drmaa_" + attribute
		set := func() error { return t.Set(attribute, value) }
		if strings.HasPrefix(attribute, "drmaa_v_") {
			set = func() error { return t.SetVector(attribute, strings.Split(value, "|")) }
		}
		if err := set(); err != nil {
			refused += formatError(err)
		}
	}
	d.templates[name] = t
	return refused
}

// usage is what of a usage does not depend on the machine: the names, whether they
// have a value, and how the job ended.
func (d *desk) usage(list []string) (out string) {
	var names []string
	for _, u := range list {
		name, value, _ := strings.Cut(u, "=")
		var v float64
		if n, err := fmt.Sscanf(value, "%f", &v); n != 1 || err != nil {
			d.t.Errorf("%s is no number", u)
		}
		if age := time.Since(time.Unix(int64(v), 0)); strings.HasSuffix(name, "_time") && v != 0 &&
			(age < -time.Minute || age > time.Hour) {
			d.t.Errorf("%s is not now", u)
		}
		if name == "exit_status" || name == "signal" {
			name = u
		}
		names = append(names, name)
	}
	return strings.Join(names, " ") + "\n"
}

func named(word string) string {
	switch word {
	case "all":
		return All
	case "any":
		return Any
	}
	return word
}

func ended(s WaitStatus) string {
	switch {
	case s.Exited():
		return fmt.Sprint("exited ", s.ExitStatus())
	case s.Signaled():
		return "ended by " + s.Signal()
	}
	return fmt.Sprint("aborted ", s.Aborted())
}

// formatError returns an error as its number and text, and nothing without one.
func formatError(err error) string {
	e, ok := err.(*Error)
	switch {
	case err == nil:
		return ""
	case !ok:
		return err.Error() + "\n"
	}
	return fmt.Sprintf("%d %s\n", e.Errno, e.Error())
}

// shown hides what differs between machines.
func (d *desk) shown(s string) string {
	me, _ := user.Current()
	host, _ := os.Hostname()
	return strings.NewReplacer(d.dir, "<dir>", d.cell.Root, "<root>", host, "HOST", me.Username+" - ", "USER - ",
		`"`+me.Username+`"`, `"USER"`, me.Username+" has ", "USER has ").Replace(s)
}
