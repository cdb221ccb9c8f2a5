package session

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Command is what is run.
type Command struct {
	Argv  []string // Argv[0] without a slash is looked for on this process's PATH
	Login bool     // the program sees its name with a leading -
	Env   []string
	Dir   string

	// Through, if there is one, is what is started in the program's place, to
	// become it: path and Argv. The program is there and may be run.
	Through func(path string, argv []string) (string, []string)
}

// running is a command that has been started.
type running struct {
	process *os.Process
	stdin   *os.File
	stdout  *os.File // its output as we read it
	stderr  *os.File // nil in a terminal
	master  *os.File // of its terminal, stdin and stdout both; nil without
}

// start starts the command: with a terminal of its own in a session of its own,
// else with three pipes in a process group of its own.
func (c Command) start(terminal bool, size Size) (*running, error) {
	path, err := exec.LookPath(c.Argv[0])
	if err != nil {
		return nil, err
	}
	cmd := exec.Cmd{Path: path, Args: slices.Clone(c.Argv), Env: c.Env, Dir: c.Dir}
	if c.Login {
		cmd.Args[0] = "-" + filepath.Base(path)
	}
	if c.Through != nil {
		cmd.Path, cmd.Args = c.Through(cmd.Path, cmd.Args)
	}
	r := &running{}
	var theirs []*os.File
	if terminal {
		master, slave, err := openTerminal()
		if err != nil {
			return nil, err
		}
		r.master, r.stdin, r.stdout = master, master, master
		r.resize(size)
		theirs = []*os.File{slave, slave, slave}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	} else {
		var ours [3]*os.File
		theirs = make([]*os.File, 3)
		for i := range theirs {
			read, write, err := os.Pipe()
			if err != nil {
				return nil, err
			}
			if theirs[i], ours[i] = write, read; i == 0 {
				theirs[i], ours[i] = read, write
			}
		}
		r.stdin, r.stdout, r.stderr = ours[0], ours[1], ours[2]
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	err = cmd.Start()
	for _, f := range theirs {
		f.Close()
	}
	if err != nil {
		return nil, err
	}
	r.process = cmd.Process
	return r, nil
}

// openTerminal makes a pseudo terminal, pty(7). Reading from the master can be
// given up: it does not block.
func openTerminal() (master, slave *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("no pseudo terminal: %w", err)
	}
	master = os.NewFile(uintptr(fd), "/dev/ptmx")
	n, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		master.Close()
		return nil, nil, fmt.Errorf("no pseudo terminal: %w", err)
	}
	return master, slave, nil
}

// resize sets the terminal's size.
func (r *running) resize(size Size) {
	if size == (Size{}) {
		size = Size{24, 80}
	}
	r.control(func(fd int) {
		unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: size.Rows, Col: size.Cols})
	})
}

// control does something with the terminal, if there is one.
func (r *running) control(do func(fd int)) {
	if r.master == nil {
		return
	}
	if raw, err := r.master.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) { do(int(fd)) })
	}
}

// again is the pause after which a terminal gets another end of file.
const again = 100 * time.Millisecond

// endInput closes the command's input after last. In a terminal the character
// for that ends a line that has begun, and only then the input; and that for
// the process that reads, or for none when the terminal changes its mode. So it is
// sent until the command has ended.
func (r *running) endInput(last byte) {
	end := []byte{4}
	switch {
	case r.master == nil:
		r.stdin.Close()
		return
	case last != 0 && last != '\n':
		r.stdin.Write(end)
	}
	for {
		if _, err := r.stdin.Write(end); err != nil {
			return
		}
		time.Sleep(again)
	}
}

// signal reaches what the user sees: the foreground of the terminal, or the
// command with its children.
func (r *running) signal(s syscall.Signal) {
	group := r.process.Pid
	r.control(func(fd int) {
		if g, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err == nil && g > 0 {
			group = g
		}
	})
	syscall.Kill(-group, s)
}

// pipeMost is more than the pipe or terminal of a user's process holds.
const pipeMost = 1 << 20

// leftover reads on without waiting: what the command wrote before its end, and
// nothing that others who still have its output open may write for ever.
func leftover(f *os.File, buf []byte, take func(n int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	for total := 0; total < pipeMost; {
		var n int
		var failed error
		if err := raw.Control(func(fd uintptr) { n, failed = unix.Read(int(fd), buf) }); err != nil {
			return err
		}
		switch {
		case errors.Is(failed, unix.EINTR):
			continue
		case failed != nil || n <= 0:
			return nil
		}
		if err := take(n); err != nil {
			return err
		}
		total += n
	}
	return nil
}
