package mailer

import (
	"context"
	"os/exec"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// wait is how long the mailer may take for one message.
const wait = 30 * time.Second

// Mailer runs the configured mailer, one message after the other.
type Mailer struct {
	log  hclog.Logger
	wake chan struct{} // capacity 1
	done chan struct{}

	mu      sync.Mutex
	program string
	queue   []report.Mail
}

// New returns a Mailer that sends nothing before Run.
func New(log hclog.Logger) *Mailer {
	return &Mailer{log: log, wake: make(chan struct{}, 1), done: make(chan struct{})}
}

// Configure sets which program sends mail from now on; "": none does.
func (m *Mailer) Configure(program string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.program = program
}

// Add puts mails in line.
func (m *Mailer) Add(mails []report.Mail) {
	if len(mails) == 0 {
		return
	}
	m.mu.Lock()
	m.queue = append(m.queue, mails...)
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

func (m *Mailer) takeBatch() (string, []report.Mail) {
	m.mu.Lock()
	defer m.mu.Unlock()
	q := m.queue
	m.queue = nil
	return m.program, q
}

// Run sends what is in line until ctx ends.
func (m *Mailer) Run(ctx context.Context) {
	defer close(m.done)
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.wake:
		}
		program, mails := m.takeBatch()
		if program == "" {
			m.log.Warn("no mailer configured, mail is not sent", "mails", len(mails))
			continue
		}
		for _, mail := range mails {
			if wrong := report.BadAddress(mail.To); wrong != "" { // stored before it was refused
				m.log.Error("mail not sent", "subject", mail.Subject, "error", wrong)
				continue
			}
			mail = harmless(mail)
			c, cancel := context.WithTimeout(ctx, wait)
			cmd := exec.CommandContext(c, program, "-s", mail.Subject, mail.To)
			cmd.Stdin = strings.NewReader(mail.Text)
			if out, err := cmd.CombinedOutput(); err != nil {
				m.log.Error("mail not sent", "address", mail.To, "subject", mail.Subject, "error", err, "output", string(out))
			}
			cancel()
		}
	}
}

// harmless replaces what a mailer could take for a header in the subject, and for a
// command in the text: a line that begins with a tilde. In both it replaces what a
// terminal would act on.
func harmless(m report.Mail) report.Mail {
	m.Subject = grid.Printable(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, m.Subject))
	m.Text = grid.Printable(strings.ReplaceAll("\n"+m.Text, "\n~", "\n ~")[1:])
	return m
}

// Wait returns when Run has.
func (m *Mailer) Wait() { <-m.done }
