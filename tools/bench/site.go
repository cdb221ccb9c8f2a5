package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/quill-grid/quill/execd/shepherd"
	"github.com/quill-grid/quill/pkg/cell"
)

// site is a throw-away cell: a directory, and the processes that live in it.
type site struct {
	*suite
	dir   string
	where cell.Cell
	parts []*process

	scratch string // for the folders of running jobs; "": the cell's directory
}

// newSite makes the directory. close removes it.
func (r *suite) newSite() (*site, error) {
	dir, err := os.MkdirTemp(r.Dir, "quill-bench-")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	r.sites++
	s := &site{suite: r, dir: dir, where: cell.Cell{Root: dir, Name: cell.DefaultName}}
	if in := r.scratchIn(); in != "" {
		if s.scratch, err = os.MkdirTemp(in, "quill-bench-"); err == nil {
			err = os.Chmod(s.scratch, 0o755)
		}
	}
	return s, err
}

// scratchIn is where the folders of running jobs are made, as an installed
// execd has them in memory.
func (r *suite) scratchIn() string {
	const memory = "/dev/shm"
	switch info, err := os.Stat(memory); {
	case r.Scratch == "none":
		return ""
	case r.Scratch == "" && err == nil && info.IsDir():
		return memory
	}
	return r.Scratch
}

// close ends everything that lives in the directory, and removes it.
func (s *site) close(err *error) {
	for _, p := range slices.Backward(s.parts) {
		*err = errors.Join(*err, p.stop())
	}
	*err = errors.Join(*err, shepherd.EndBelow(s.dir, 10*time.Second))
	if !s.Keep {
		*err = errors.Join(*err, os.RemoveAll(s.dir))
		if s.scratch != "" {
			*err = errors.Join(*err, os.RemoveAll(s.scratch))
		}
	}
}

// durable is what was asked for, or the bench's own choice.
func (r *suite) durable(otherwise bool) bool {
	if r.Durable != nil {
		return *r.Durable
	}
	return otherwise
}

// process is a part that runs.
type process struct {
	cmd  *exec.Cmd
	live io.Closer // its standard input
	over bool
}

// start starts a part and returns when it is ready.
func (s *site) start(ctx context.Context, p processPart) (*process, error) {
	p.Cell, p.Scratch, p.Quill = s.where, s.scratch, s.quill
	p.CPUProfile, p.MemProfile = s.profile(s.CPUProfile, p.Role), s.profile(s.MemProfile, p.Role)
	cmd, assignment := s.part(p)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	one := &process{cmd: cmd, live: in}
	s.parts = append(s.parts, one)
	defer context.AfterFunc(ctx, func() { in.Close() })()
	if _, err := in.Write(assignment); err != nil {
		return nil, errors.Join(err, one.stop())
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != readyLine {
		return nil, fmt.Errorf("%s did not start: %w", p.Role, errors.Join(err, one.stop()))
	}
	return one, nil
}

// processPart is the process of a part, and what it wants to read.
func (s *site) part(p processPart) (*exec.Cmd, []byte) {
	assignment, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	cmd := exec.Command("nice", "-n", strconv.Itoa(p.Nice), s.self, "bench", "part")
	cmd.Dir, cmd.Env, cmd.Stderr = s.dir, s.environ(), s.env.Stderr
	// An interrupt is for the bench; it ends its parts in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, append(assignment, '\n')
}

// weighed runs a command with its standard output in a file and says what it
// took.
func (s *site) weighed(output string, command ...string) (w weight, err error) {
	cmd, assignment := s.part(processPart{Role: "command", Quill: s.quill, Command: command, Output: output})
	in, err := cmd.StdinPipe()
	if err != nil {
		return w, err
	}
	defer in.Close()
	if _, err := in.Write(assignment); err != nil { // the pipe holds it until the process reads
		return w, err
	}
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &w)
	}
	return w, err
}

// profile is the file for a profile of the process of a role. One that is
// started again overwrites it: it is the second start that is measured.
func (s *site) profile(file, role string) string {
	if file == "" {
		return ""
	}
	if s.sites > 1 {
		file = fmt.Sprintf("%s.%d", file, s.sites)
	}
	if role != "cell" && role != "qmaster" {
		file += "." + role
	}
	return file
}

// stop ends a part cleanly.
func (p *process) stop() error {
	if p.over {
		return nil
	}
	p.over = true
	p.live.Close()
	return p.cmd.Wait()
}

// kill ends a part as kill -9 does.
func (p *process) kill() error {
	if p.over {
		return nil
	}
	p.over = true
	err := p.cmd.Process.Kill()
	p.cmd.Wait()
	return err
}

// resident is the memory of the process in bytes, VmRSS in proc(5).
func (p *process) resident() (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(status), "VmRSS:")
	number, _, found := strings.Cut(strings.TrimSpace(after), " ")
	kib, err := strconv.ParseInt(number, 10, 64)
	if !found || err != nil {
		return 0, errors.New("no VmRSS in the process's status")
	}
	return kib << 10, nil
}

// command is one of Grid Engine's commands for this cell, run as its link would
// be.
func (s *site) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.quill, args...)
	cmd.Args[0] = name
	cmd.Dir, cmd.Env = s.dir, s.environ()
	return cmd
}

// environ is the environment in which the cell is found.
func (s *site) environ() []string {
	env := slices.DeleteFunc(slices.Clone(s.env.Environ), func(v string) bool {
		return strings.HasPrefix(v, "SGE_ROOT=") || strings.HasPrefix(v, "SGE_CELL=")
	})
	return append(env, s.where.Environ()...)
}
