package mailer

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

const (
	// wait is how long the mailer may take for one message.
	wait = 30 * time.Second
	// ownerMost is how many bytes of mail wait for one owner, allMost for all: what comes after them is not sent.
	ownerMost = 1 << 20
	allMost   = 16 << 20
	// messageBytes is what a message takes besides its texts.
	messageBytes = 200
	// outputMost is how much of what a mailer prints is logged.
	outputMost = 1000
)

// message is a mail to one address.
type message struct{ to, subject, text string }

// Mailer runs the configured mailer, one message after the other. Owners of mail have turns.
type Mailer struct {
	Start func(*exec.Cmd) error // starts the mailer; not changed after Run

	log  hclog.Logger
	wake chan struct{} // capacity 1
	done chan struct{}

	mu      sync.Mutex
	program string
	waiting fair.Queue[message]
	unsent  map[string]int // messages that are not sent, by reason, since they were logged
}

// Reasons why messages are not sent, of which there may be very many: they are counted.
const (
	tooMany  = "too much mail waits"
	noMailer = "no mailer is configured"
	ending   = "the daemon ends"
)

// New returns a Mailer that sends nothing before Run.
func New(log hclog.Logger) *Mailer {
	return &Mailer{Start: (*exec.Cmd).Start, log: log, wake: make(chan struct{}, 1), done: make(chan struct{}),
		unsent: map[string]int{}}
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
	for _, mail := range mails {
		m.put(mail)
	}
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// put queues a mail, or counts it as not sent.
func (m *Mailer) put(mail report.Mail) {
	if m.program == "" {
		m.unsent[noMailer] += len(mail.To)
		return
	}
	owner, text := fair.User{Name: mail.Owner}, harmless(mail)
	for i, to := range mail.To {
		size := messageBytes + len(to)
		if i == 0 { // the others share the texts
			size += len(text.subject) + len(text.text)
		}
		if _, own := m.waiting.Of(owner); own+size > ownerMost || m.waiting.Size()+size > allMost {
			m.unsent[tooMany] += len(mail.To) - i
			return
		}
		m.waiting.Put(owner, message{to, text.subject, text.text}, size)
	}
}

// next takes the message whose turn it is, and what was not sent.
func (m *Mailer) next() (program string, one message, any bool, unsent map[string]int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, one, any = m.waiting.Next()
	if !any { // a burst is logged in one line when it is over
		unsent, m.unsent = m.unsent, map[string]int{}
	}
	return m.program, one, any, unsent
}

// Run sends what is in line until ctx ends.
func (m *Mailer) Run(ctx context.Context) {
	defer close(m.done)
	defer m.end()
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.wake:
		}
		for ctx.Err() == nil {
			program, one, any, unsent := m.next()
			m.report(unsent)
			if !any {
				break
			}
			m.send(ctx, program, one)
		}
	}
}

// send runs the mailer for a message.
func (m *Mailer) send(ctx context.Context, program string, one message) {
	if wrong := report.BadAddress(one.to); wrong != "" { // stored before it was refused
		m.log.Error("mail not sent", "subject", one.subject, "error", wrong)
		return
	}
	c, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	cmd := exec.CommandContext(c, program, "-s", one.subject, one.to)
	cmd.Stdin, cmd.WaitDelay = strings.NewReader(one.text), time.Second // for what it has started
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := m.Start(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil && ctx.Err() == nil {
		said := string(out.Next(outputMost))
		m.log.Error("mail not sent", "address", one.to, "subject", one.subject, "error", err, "output", said)
	} else if err != nil {
		m.count(ending, 1)
	}
}

func (m *Mailer) count(reason string, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unsent[reason] += n
}

// end gives up what waits.
func (m *Mailer) end() {
	m.mu.Lock()
	for _, _, any := m.waiting.Next(); any; _, _, any = m.waiting.Next() {
		m.unsent[ending]++
	}
	unsent := m.unsent
	m.unsent = map[string]int{}
	m.mu.Unlock()
	m.report(unsent)
}

// report logs how many messages were not sent.
func (m *Mailer) report(unsent map[string]int) {
	for _, reason := range []string{tooMany, noMailer, ending} {
		if n := unsent[reason]; n > 0 {
			m.log.Warn("mail not sent", "reason", reason, "mails", n)
		}
	}
}

// harmless replaces what a mailer could take for a header in the subject, and for a
// command in the text: a line that begins with a tilde. In both it replaces what a
// terminal would act on.
func harmless(m report.Mail) (out message) {
	out.subject = grid.Printable(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, m.Subject))
	out.text = grid.Printable(strings.ReplaceAll("\n"+m.Text, "\n~", "\n ~")[1:])
	return out
}

// Wait returns when Run has.
func (m *Mailer) Wait() { <-m.done }
