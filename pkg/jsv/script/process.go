package script

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/quill-grid/quill/pkg/jsv"
	"github.com/quill-grid/quill/pkg/userdb"
)

// lineMax is how long a line of a script may be.
const lineMax = 1 << 20

// scriptProcess is a running script.
type scriptProcess struct {
	cmd    *exec.Cmd
	in     *os.File
	stderr *os.File
	lines  chan string   // what it says; closed when it says no more
	deaf   chan struct{} // its output is not read any more
	ended  chan struct{} // it is gone
}

// start starts a script: its own process group, so that what it has started ends
// with it.
func start(u jsv.URL, dir string, env []string) (*scriptProcess, error) {
	cmd := exec.Command(u.Path)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := become(cmd, u.User); err != nil {
		return nil, err
	}
	p := &scriptProcess{cmd: cmd, lines: make(chan string), deaf: make(chan struct{}), ended: make(chan struct{})}
	var theirs, ours []*os.File
	for n := range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			shut(theirs, ours)
			return nil, err
		}
		if n == 0 { // it reads there
			r, w = w, r
		}
		theirs, ours = append(theirs, w), append(ours, r)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	p.in, p.stderr = ours[0], ours[2]
	err := cmd.Start()
	shut(theirs)
	if err != nil {
		shut(ours)
		if errors.Is(err, syscall.ENOENT) { // the file is there
			err = errors.New("the interpreter that it names is not there")
		}
		return nil, fmt.Errorf("JSV %q cannot be started: %w", u.Path, err)
	}
	go p.read(ours[1])
	go func() {
		cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

func shut(lists ...[]*os.File) {
	for _, files := range lists {
		for _, f := range files {
			f.Close()
		}
	}
}

// become has the script run as another user. The user whose program starts it
// needs no rights for that.
func become(cmd *exec.Cmd, name string) error {
	if name == "" {
		return nil
	}
	who, err := userdb.Lookup(name)
	if err != nil {
		return fmt.Errorf("user %q specified in JSV URL does not exist", name)
	}
	if who.Uid == strconv.Itoa(os.Getuid()) {
		return nil
	}
	if os.Getuid() != 0 {
		return fmt.Errorf("only root can start a JSV as user %q", name)
	}
	uid, err1 := strconv.ParseUint(who.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(who.Gid, 10, 32)
	if err1 != nil || err2 != nil {
		return fmt.Errorf("user %q has no numbers", name)
	}
	var groups []uint32
	ids, err := userdb.Groups(who)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if n, err := strconv.ParseUint(id, 10, 32); err == nil {
			groups = append(groups, uint32(n))
		}
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), Groups: groups}
	cmd.Env = append(cmd.Env, "HOME="+who.HomeDir, "USER="+name, "LOGNAME="+name)
	return nil
}

func (p *scriptProcess) read(out *os.File) {
	defer out.Close()
	defer close(p.lines)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, lineMax)
	for lines.Scan() {
		select {
		case p.lines <- lines.Text():
		case <-p.deaf:
			return
		}
	}
}

// alive reports whether the script still listens, and has not begun to speak
// unasked.
func (p *scriptProcess) alive() bool {
	select {
	case <-p.lines:
	case <-p.ended:
	default:
		return true
	}
	return false
}

// send sends lines to the script. It fails with errSilent if the script does not read
// them.
func (p *scriptProcess) send(ctx context.Context, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	until, _ := ctx.Deadline()
	p.in.SetWriteDeadline(until)
	stop := context.AfterFunc(ctx, func() { p.in.SetWriteDeadline(time.Now()) })
	defer stop()
	if _, err := p.in.WriteString(strings.Join(lines, "\n") + "\n"); err != nil {
		return p.silent()
	}
	return nil
}

// receive waits for a line of the script.
func (p *scriptProcess) receive(ctx context.Context) (string, error) {
	select {
	case line, ok := <-p.lines:
		if !ok {
			return "", p.silent()
		}
		return line, p.complaint()
	case <-ctx.Done():
		return "", p.silent()
	}
}

func (p *scriptProcess) silent() error {
	if err := p.complaint(); err != nil {
		return err
	}
	return errSilent
}

// complaint is what the script has written to standard error, when it has.
func (p *scriptProcess) complaint() error {
	buf := make([]byte, 4096)
	n := 0
	conn, err := p.stderr.SyscallConn()
	if err != nil {
		return err
	}
	conn.Read(func(fd uintptr) bool { // what is there, without waiting for more
		n, _ = syscall.Read(int(fd), buf)
		return true
	})
	if n <= 0 {
		return nil
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(buf[:n])), "\n")
	return fmt.Errorf("JSV stderr: %s", line)
}

// quit sends QUIT to the script and waits until it has ended.
func (p *scriptProcess) quit(ctx context.Context) {
	if p.send(ctx, []string{jsv.Quit}) != nil {
		return
	}
	p.in.Close()
	for {
		select {
		case _, ok := <-p.lines:
			if !ok {
				return
			}
		case <-p.ended:
			return
		case <-ctx.Done():
			return
		}
	}
}

// kill ends the script and what it has started.
func (p *scriptProcess) kill() {
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	close(p.deaf)
	p.in.Close()
	<-p.ended
	p.stderr.Close()
}
