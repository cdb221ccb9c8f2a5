package attacker

import (
	"bytes"
	"context"
	cryptorand "crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/submit"
)

// Field is what the process of an attack has. The director sends it as one line of
// JSON.
type Field struct {
	Attack string
	Role   bus.Role
	Name   string // of the attacker in that role
	Seed   uint64
	Cell   cell.Cell
	Socket bool   // the role is that of the account, over the cell's socket; else it has a key
	URL    string // of the server
	Key    string // file with the key of the role
	Dir    string // a directory of the attacker
	Quill  string // the program
	Lab    string // the program that runs the attacks
	Honest string // name of the honest user

	Subject   string // only subjects with this text; "": all
	Listeners string // file with the sockets at which processes of the cell listen
	Web       string // address of quill web
	Token     string // of the attacker; ReadToken may only read
	ReadToken string
	// AgentToken is that of a program of the administrator, which may only propose.
	AgentToken string
	Orphan     string // how long processes sleep that outlive their job, in seconds: the director finds them by it

	// Secrets are texts that the attacker must not find, by what they are; Closed are
	// files that the attacker must not read or write, or directories in which it must not make any.
	Secrets map[string]string
	Closed  []string

	// Hosts are the cell's hosts, Jobs the honest user's jobs that run all the time.
	Hosts []string
	Jobs  []uint32

	dice *rand.Rand
	env  opt.Env

	web *http.Client

	done, denied atomic.Int64
	accepted     atomic.Int64 // bytes
	mu           sync.Mutex
	breaches     map[string]bool
	covered      map[string]int // since the last report
	once         map[string]int
	hidden       map[string]bool // effects of proposals that were not shown
}

// Progress is a line that the process of an attack writes: what it has done so far.
type Progress struct {
	Done, Refused int64
	Breach        string         `json:",omitempty"`
	Covered       map[string]int `json:",omitempty"` // subjects, since the line before
	Jobs          []uint32       `json:",omitempty"` // that have something to be looked at
	Failed        string         `json:",omitempty"`
}

func (f *Field) printProgress(t Progress) {
	t.Done, t.Refused = f.done.Load(), f.denied.Load()
	f.mu.Lock()
	defer f.mu.Unlock()
	t.Covered = f.covered
	line, _ := json.Marshal(t)
	f.covered = map[string]int{}
	f.env.Stdout.Write(append(line, '\n'))
}

// did counts what was carried out or answered, refused what was not.
func (f *Field) did()     { f.done.Add(1) }
func (f *Field) refused() { f.denied.Add(1) }

// count counts by whether there was an error.
func (f *Field) count(err error) {
	if err != nil {
		f.refused()
		return
	}
	f.did()
}

// cover counts that a subject was attacked.
func (f *Field) cover(subject string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.covered[subject]++
}

// covers counts a subject, and reports whether that was done before.
func (f *Field) covers(subject string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.once[subject]++
	f.covered[subject]++
	return f.once[subject] > 1
}

// say names jobs that the director looks at.
func (f *Field) say(jobs []uint32) {
	f.printProgress(Progress{Jobs: slices.DeleteFunc(jobs, func(id uint32) bool { return id == 0 })}) // 0: not submitted
}

// reply sends a request with a number of its own.
func (f *Field) reply(ctx context.Context, way asker, b gdi.Body) (reply gdi.Reply, err error) {
	ctx, cancel := context.WithTimeout(ctx, CommandMax)
	defer cancel()
	data := codec.AppendRequest(nil, gdi.Request{ID: cryptorand.Text(), Command: "qsub", Host: f.env.Host, Body: b})
	answer, err := way.Ask(ctx, b.Verb(), data)
	if err != nil {
		return reply, err
	}
	f.search("answer to "+b.Verb(), answer)
	return codec.DecodeReply(answer)
}

// deleteAll deletes all jobs of the attacker.
func (f *Field) deleteAll() {
	if way, err := f.asker(); err == nil {
		defer way.Close()
		f.reply(context.Background(), way, &gdi.DeleteJobs{Jobs: gdi.Jobs{Users: grid.Names{f.Name}}})
	}
}

// breach reports what the attacker should not have got. It is reported once.
func (f *Field) breach(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	f.mu.Lock()
	known := f.breaches[text]
	f.breaches[text] = true
	f.mu.Unlock()
	if !known {
		f.printProgress(Progress{Breach: text})
	}
}

// search reports the secrets that are in what the attacker received from where.
func (f *Field) search(where string, b []byte) {
	for what, secret := range f.Secrets {
		if bytes.Contains(b, []byte(secret)) {
			f.breach("%s: %s", where, what)
		}
	}
}

func (f *Field) pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// me is who the attacker connects as.
func (f *Field) me() bus.Identity { return bus.Identity{Role: f.Role, Name: f.Name} }

func (f *Field) options() bus.ConnOptions {
	if f.Socket {
		return bus.ConnOptions{Socket: f.Cell.Socket(), Identity: bus.Identity{Role: bus.User}}
	}
	return f.network()
}

// network is the way with the key.
func (f *Field) network() bus.ConnOptions {
	return bus.ConnOptions{URL: f.URL, Seed: f.Key, Identity: f.me()}
}

// connect opens a connection.
func (f *Field) connect() (*bus.Conn, error) { return bus.Connect(f.options()) }

// asker is a connection or a line.
type asker interface {
	Ask(ctx context.Context, what string, data []byte) ([]byte, error)
	Close()
}

// asker opens the way on which the commands ask: a line where there is a socket. What is answered in parts is asked on
// a connection beside it.
func (f *Field) asker() (asker, error) {
	if !f.Socket {
		return f.connect()
	}
	line, err := bus.DialLocal(f.options())
	if err != nil {
		return nil, err
	}
	return &way{LocalConn: line, f: f}, nil
}

// way is a line, and a connection when there is something that a line does not carry.
type way struct {
	*bus.LocalConn
	f    *Field
	mu   sync.Mutex
	conn *bus.Conn
}

// Ask sends a request. Of what is answered in parts it returns the last.
func (w *way) Ask(ctx context.Context, what string, data []byte) ([]byte, error) {
	if what != "get" && what != "history" && what != "explain" {
		return w.LocalConn.Ask(ctx, what, data)
	}
	w.mu.Lock()
	if w.conn == nil {
		conn, err := w.f.connect()
		if err != nil {
			w.mu.Unlock()
			return nil, err
		}
		w.conn = conn
	}
	conn := w.conn
	w.mu.Unlock()
	return conn.RequestStream(ctx, bus.CmdSubject(conn.Identity(), what), data, func(chunk []byte) error {
		w.f.search("answer to "+what, chunk)
		return nil
	})
}

// Close closes both.
func (w *way) Close() {
	w.LocalConn.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn != nil {
		w.conn.Close()
	}
}

// Workers runs work at the same time so often and waits until all have returned. It
// returns one of their errors.
func Workers(n int, work func(i int) error) error {
	var all sync.WaitGroup
	failed := make(chan error, n)
	for i := range n {
		all.Go(func() {
			if err := work(i); err != nil {
				failed <- err
			}
		})
	}
	all.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// job returns the job that qsub makes of a command and its switches.
func (f *Field) job(words ...string) (*grid.Job, error) { return submit.Job(f.env.Origin(), words...) }

// CommandMax is how long a command may take.
const CommandMax = 20 * time.Second

// run runs one of Grid Engine's commands as the attacker and returns its output.
func (f *Field) run(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, CommandMax)
	defer cancel()
	cmd := exec.CommandContext(ctx, f.Quill, args...)
	cmd.Args[0] = name
	cmd.Dir, cmd.Env = f.Dir, f.environ()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// runQsub submits a job that runs in the attacker's directory: the account may have no home.
func (f *Field) runQsub(ctx context.Context, args ...string) (string, error) {
	return f.run(ctx, "qsub", append([]string{"-cwd"}, args...)...)
}

// tryJob returns an error when a job of the attacker cannot be submitted, or cannot be started. One that has not ended
// in time may wait for its turn.
func (f *Field) tryJob(ctx context.Context) error {
	out, err := f.runQsub(ctx, "-sync", "y", "-o", "/dev/null", "-j", "y", "-b", "y", "true")
	if err == nil || ctx.Err() != nil {
		return nil
	}
	id := Submitted(out)
	switch {
	case id == 0 && out == "": // it took longer than commandMax
		return nil
	case id == 0:
		return fmt.Errorf("no job of the attacker is accepted: %s", strings.TrimSpace(out))
	}
	about, _ := f.run(ctx, "qstat", "-j", fmt.Sprint(id))
	for line := range strings.Lines(about) {
		if strings.HasPrefix(line, "error reason") {
			return fmt.Errorf("no job of the attacker runs: %s", strings.TrimSpace(line))
		}
	}
	return nil
}

func (f *Field) environ() []string {
	return []string{"SGE_ROOT=" + f.Cell.Root, "SGE_CELL=" + f.Cell.Name, "HOME=" + f.Dir, "USER=" + f.Name,
		"LOGNAME=" + f.Name,
		"PATH=/usr/local/bin:/usr/bin:/bin", "QUILL_KEY=" + f.Key}
}

// Submitted is the number of the job that qsub says it has submitted, 0 if it did not.
func Submitted(output string) (id uint32) {
	_, after, _ := strings.Cut(output, "Your job")
	after = strings.TrimPrefix(after, "-array")
	fmt.Sscanf(strings.TrimSpace(after), "%d", &id)
	return id
}

// file writes a file in the attacker's directory and returns its path.
func (f *Field) file(name, text string, mode os.FileMode) (string, error) {
	path := filepath.Join(f.Dir, name)
	err := os.WriteFile(path, []byte(text), mode)
	return path, errors.Join(err, os.Chmod(path, mode))
}
