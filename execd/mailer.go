package execd

import (
	"context"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/quill-grid/quill/execd/core"
)

// mailWait is how long the mailer may take for one message.
const mailWait = 30 * time.Second

// mailer runs the configured mailer, one message after the other.
type mailer struct {
	d    *daemon
	wake chan struct{} // capacity 1
	done chan struct{}

	mu      sync.Mutex
	program string
	queue   []core.Mail
}

func newMailer(d *daemon) *mailer {
	return &mailer{d: d, wake: make(chan struct{}, 1), done: make(chan struct{})}
}

func (m *mailer) configure(c *core.Conf) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.program = c.Mailer
}

func (m *mailer) add(mails []core.Mail) {
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

func (m *mailer) take() (string, []core.Mail) {
	m.mu.Lock()
	defer m.mu.Unlock()
	q := m.queue
	m.queue = nil
	return m.program, q
}

func (m *mailer) run(ctx context.Context) {
	defer close(m.done)
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.wake:
		}
		program, mails := m.take()
		if program == "" {
			m.d.Logger.Warn("no mailer configured, mail is not sent", "mails", len(mails))
			continue
		}
		for _, mail := range mails {
			c, cancel := context.WithTimeout(ctx, mailWait)
			cmd := exec.CommandContext(c, program, "-s", mail.Subject, mail.To)
			cmd.Stdin = strings.NewReader(mail.Text)
			if out, err := cmd.CombinedOutput(); err != nil {
				m.d.Logger.Error("mail not sent", "to", mail.To, "subject", mail.Subject, "error", err, "output", string(out))
			}
			cancel()
		}
	}
}
