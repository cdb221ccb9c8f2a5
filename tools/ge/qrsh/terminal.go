package qrsh

import (
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/ge/qrsh/session"
)

// terminal is the user's side of a session: the terminal, if there is one and
// the command gets one too, and the signals that are sent to qrsh.
type terminal struct {
	link *session.Link
	pty  bool
	file *os.File // the user's, when both have one
}

func newTerminal(env opt.Env, link *session.Link, pty bool) *terminal {
	t := &terminal{link: link, pty: pty}
	if f, ok := env.Stdin.(*os.File); ok && pty && term.IsTerminal(int(f.Fd())) {
		t.file = f
	}
	return t
}

// passed are the signals that are passed on to the command.
var passed = []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1,
	syscall.SIGUSR2, syscall.SIGTSTP, syscall.SIGCONT}

// attend sits in front of the command until it has ended. The user's terminal
// is raw meanwhile: what is typed is for the command's.
func (t *terminal) attend(stdin io.Reader, stdout, stderr io.Writer) (session.Exit, error) {
	if t.file != nil {
		if before, err := term.MakeRaw(int(t.file.Fd())); err == nil {
			defer term.Restore(int(t.file.Fd()), before)
		}
	}
	t.link.Open(t.pty, t.size()) // an error shows in Attend
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, append(passed, syscall.SIGWINCH)...)
	over := make(chan struct{})
	defer close(over)
	defer signal.Stop(signals)
	go t.relay(signals, over)
	return t.link.Attend(stdin, stdout, stderr)
}

// relay passes signals on. When the command receives a stop signal, qrsh stops too.
func (t *terminal) relay(signals <-chan os.Signal, over <-chan struct{}) {
	for {
		select {
		case s := <-signals:
			if s == syscall.SIGWINCH {
				t.link.Resize(t.size())
				continue
			}
			t.link.Signal(s.(syscall.Signal))
			if s == syscall.SIGTSTP {
				syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			}
		case <-over:
			return
		}
	}
}

func (t *terminal) size() session.Size {
	if t.file == nil {
		return session.Size{}
	}
	cols, rows, err := term.GetSize(int(t.file.Fd()))
	if err != nil {
		return session.Size{}
	}
	return session.Size{Rows: uint16(rows), Cols: uint16(cols)}
}
