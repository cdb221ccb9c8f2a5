package attack

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/cell"
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
	Honest string // name of the honest user

	// Secrets are texts that the attacker must not find, by what they are; Closed are
	// files that the attacker must not read or write, or directories in which it must not make any.
	Secrets map[string]string
	Closed  []string

	// Hosts are the cell's hosts, Jobs the honest user's jobs that run all the time.
	Hosts []string
	Jobs  []uint32

	dice *rand.Rand
	env  opt.Env

	done, denied atomic.Int64
	mu           sync.Mutex
	breaches     map[string]bool
}

// progress is a line that the process of an attack writes: what it has done so far.
type progress struct {
	Done, Refused int64
	Breach        string `json:",omitempty"`
	Failed        string `json:",omitempty"`
}

// Be is the process of an attack. It ends with ctx and with its standard input.
func Be(ctx context.Context, env opt.Env) error {
	in := bufio.NewReader(env.Stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("attack: no instructions on standard input: %w", err)
	}
	f := &Field{env: env, breaches: map[string]bool{}}
	if err := json.Unmarshal(line, f); err != nil {
		return fmt.Errorf("attack: %w", err)
	}
	some, unknown := find([]string{f.Attack})
	if unknown != "" {
		return fmt.Errorf("attack: unknown attack %q", unknown)
	}
	f.dice = rand.New(rand.NewPCG(f.Seed, 1))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		io.Copy(io.Discard, in)
		cancel()
	}()
	var telling sync.WaitGroup
	over := make(chan struct{})
	telling.Go(func() {
		for tick := time.NewTicker(200 * time.Millisecond); ; {
			select {
			case <-tick.C:
				f.printProgress(progress{})
			case <-over:
				tick.Stop()
				return
			}
		}
	})
	for ctx.Err() == nil {
		if err := some[0].Run(ctx, f); err != nil && ctx.Err() == nil {
			f.printProgress(progress{Failed: err.Error()})
		}
		f.pause(ctx, 100*time.Millisecond)
	}
	close(over)
	telling.Wait()
	f.printProgress(progress{})
	return nil
}

func (f *Field) printProgress(t progress) {
	t.Done, t.Refused = f.done.Load(), f.denied.Load()
	line, _ := json.Marshal(t)
	f.mu.Lock()
	defer f.mu.Unlock()
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

// breach reports what the attacker should not have got. It is reported once.
func (f *Field) breach(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	f.mu.Lock()
	known := f.breaches[text]
	f.breaches[text] = true
	f.mu.Unlock()
	if !known {
		f.printProgress(progress{Breach: text})
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

// asker opens the way on which the commands ask: a line where there is a socket.
func (f *Field) asker() (asker, error) {
	if f.Socket {
		return bus.OpenLine(f.options())
	}
	return f.connect()
}

// workers runs work at the same time so often and waits until all have returned. It
// returns one of their errors.
func workers(n int, work func(i int) error) error {
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

// commandMax is how long a command may take.
const commandMax = 20 * time.Second

// run runs one of Grid Engine's commands as the attacker and returns its output.
func (f *Field) run(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandMax)
	defer cancel()
	cmd := exec.CommandContext(ctx, f.Quill, args...)
	cmd.Args[0] = name
	cmd.Dir, cmd.Env = f.Dir, f.environ()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (f *Field) environ() []string {
	return []string{"SGE_ROOT=" + f.Cell.Root, "SGE_CELL=" + f.Cell.Name, "HOME=" + f.Dir, "USER=" + f.Name, "LOGNAME=" + f.Name,
		"PATH=/usr/local/bin:/usr/bin:/bin", "QUILL_KEY=" + f.Key}
}

// submitted is the number of the job that qsub says it has submitted, 0 if it did not.
func submitted(output string) (id uint32) {
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
