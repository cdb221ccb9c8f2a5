package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/quill-grid/quill/tools/attack/attacker"
)

// honest is the user who works while the cell is attacked. Each request starts at its
// time, whether the one before has ended or not: else a command that hangs would
// hide all that would have hung after it.
type honest struct {
	s *site
	c *canaries

	mu      sync.Mutex
	samples map[string][]served // by service
	held    []string            // jobs to be deleted
	wrong   []string            // answers that were not true
}

// sample is one request of the honest user.
type served struct {
	at   time.Time
	took time.Duration
	used time.Duration // of processors, by the commands that it ran
	err  string        // why it failed, "": it did not
}

// service is what the honest user, and who watches the cell, ask of it all the time.
type service struct {
	name  string
	every time.Duration
	do    func(h *honest, ctx context.Context) error
}

// qsubService is the one whose delay the report shows for each attack. metricsService is asked for once at a time, as
// Prometheus asks: qmaster refuses more of one user.
const (
	qsubService    = "qsub"
	metricsService = "metrics of qmaster"
)

// services are all of them. Jobs that qsub submits so often are held and deleted: the line of the cell would show how
// many jobs it runs in a second, and not how long one takes to start.
var services = []service{
	{qsubService, 150 * time.Millisecond, (*honest).hold},
	{"qdel", 5 * time.Second, (*honest).deleteHeld},
	{"job started", 2 * time.Second, (*honest).start},
	{"qrsh", 3 * time.Second, (*honest).session},
	{"quill why", 3 * time.Second, (*honest).why},
	{"health of quill web", 500 * time.Millisecond, func(h *honest, ctx context.Context) error {
		return h.http(ctx, h.s.web, "", "/healthz", 0)
	}},
	{"health of quill web, socket", 500 * time.Millisecond, func(h *honest, ctx context.Context) error {
		return h.http(ctx, "", "", "/healthz", 0)
	}},
	{metricsService, 500 * time.Millisecond, func(h *honest, ctx context.Context) error {
		return h.http(ctx, h.s.metrics, "", "/metrics", 0)
	}},
	{"jobs of the past", 2 * time.Second, func(h *honest, ctx context.Context) error {
		return h.http(ctx, h.s.web, h.s.tokens.honest, "/v1/jobs?at=10", 0)
	}},
	{"events", time.Second, func(h *honest, ctx context.Context) error {
		return h.http(ctx, h.s.web, h.s.tokens.honest, "/v1/events", 1)
	}},
	{"live page", time.Second, func(h *honest, ctx context.Context) error {
		_, err := h.answer(ctx, h.s.web, "", "GET", "/", "", 1, "Accept", "text/event-stream", "Cookie", h.s.cookie)
		return err
	}},
	{"submission over HTTP", time.Second, (*honest).submit},
}

// bareStart is no service and has no bar: what every start of a job needs, done by a shell with the priority of a job.
// How much longer it takes during the attack explains how late jobs start on a machine that hosts share with the
// attacks.
var bareStart = service{"a bare start with the priority of a job", time.Second,
	func(h *honest, ctx context.Context) error {
		args := h.s.elsewhere("/bin/sh", "-c",
			`d=$(mktemp -d "$0/bareXXXXXX") && echo x >"$d/x" && sync "$d/x" && rm -r "$d"`,
			h.s.tmp())
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		h.s.as(cmd, nil)
		if err := h.s.startElsewhere(cmd, hosts); err != nil {
			return err
		}
		return cmd.Wait()
	}}

// bareCommand is no service and has no bar: a command of the honest user that needs no daemon. What it
// takes longer, the machine takes.
var bareCommand = service{"a bare command", time.Second, func(h *honest, ctx context.Context) error {
	_, err := h.output(ctx, "quill", "version")
	return err
}}

// measured are the services, and what is measured beside them.
var measured = append([]service{bareStart, bareCommand}, services...)

const (
	inFlightMax = 40 // requests that hang; more would only load the machine
	qsubMax     = 60 * time.Second
)

// work asks for all services until ctx ends, and returns when all have answered.
func (h *honest) work(ctx context.Context) {
	var all sync.WaitGroup
	for _, s := range measured {
		all.Go(func() { h.use(ctx, s) })
	}
	all.Wait()
}

// use asks for one service.
func (h *honest) use(ctx context.Context, s service) {
	most := inFlightMax
	if s.name == metricsService {
		most = 1
	}
	inFlight := make(chan struct{}, most)
	var working sync.WaitGroup
	defer working.Wait()
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for at := time.Now(); ; {
		inFlight <- struct{}{}
		working.Go(func() {
			defer func() { <-inFlight }()
			h.ask(context.WithoutCancel(ctx), s, at)
		})
		select {
		case <-ctx.Done():
			return
		case at = <-tick.C:
		}
	}
}

// ask asks for a service once.
func (h *honest) ask(ctx context.Context, s service, at time.Time) {
	ctx, cancel := context.WithTimeout(ctx, qsubMax)
	defer cancel()
	one := served{at: at}
	err := s.do(h, context.WithValue(ctx, usedKey{}, &one.used))
	one.took = time.Since(at)
	if err != nil {
		one.err = err.Error()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.samples[s.name] = append(h.samples[s.name], one)
}

// usedKey is the context's key of where the processor time of a request's commands is summed up.
type usedKey struct{}

// output runs a command of the honest user.
func (h *honest) output(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := h.s.command(ctx, h.s.honest, name, args...)
	out, err := cmd.CombinedOutput()
	if used, ok := ctx.Value(usedKey{}).(*time.Duration); ok && cmd.ProcessState != nil {
		*used += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return out, err
}

// qsub submits a job with a secret in its environment.
func (h *honest) qsub(ctx context.Context, words ...string) (uint32, error) {
	ctx, cancel := context.WithTimeout(ctx, qsubMax)
	defer cancel()
	args := append([]string{"-v", "PASSWORD=" + h.c.env, "-o", "/dev/null", "-j", "y", "-S", "/bin/sh"}, words...)
	out, err := h.output(ctx, "qsub", args...)
	if err != nil {
		return 0, fmt.Errorf("qsub: %w: %s", err, strings.TrimSpace(string(out)))
	}
	id := attacker.Submitted(string(out))
	if id == 0 {
		return 0, fmt.Errorf("qsub: no job: %s", out)
	}
	return id, nil
}

// hold submits a job that is held.
func (h *honest) hold(ctx context.Context) error {
	id, err := h.qsub(ctx, "-h", h.c.script_)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		h.held = append(h.held, fmt.Sprint(id))
	}
	return err
}

// deleteHeld deletes the held jobs that were submitted since it was last called.
func (h *honest) deleteHeld(ctx context.Context) error {
	h.mu.Lock()
	held := h.held
	h.held = nil
	h.mu.Unlock()
	if len(held) == 0 {
		return nil
	}
	if out, err := h.output(ctx, "qdel", held...); err != nil {
		return fmt.Errorf("qdel: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// start runs a job to its end.
func (h *honest) start(ctx context.Context) error {
	_, err := h.qsub(ctx, "-sync", "y", h.c.script_)
	return err
}

// session has a host run a command over a connection to this client, which the host makes. The client waits for it for
// a second or two.
func (h *honest) session(ctx context.Context) error {
	before, err := h.qsub(ctx, "-N", "before", "-b", "y", "sleep", "1")
	if err != nil {
		return err
	}
	out, err := h.output(ctx, "qrsh", "-now", "n", "-hold_jid", fmt.Sprint(before), "echo", "here")
	if err == nil && !strings.Contains(string(out), "here") {
		err = fmt.Errorf("no output")
	}
	if err != nil {
		return fmt.Errorf("qrsh: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// why asks for the story of a job, which is read from the log.
func (h *honest) why(ctx context.Context) error {
	h.mu.Lock()
	id := h.s.sleepers[0]
	h.mu.Unlock()
	if out, err := h.output(ctx, "quill", "why", fmt.Sprint(id)); err != nil {
		return fmt.Errorf("quill why: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// http asks an HTTP server on a connection of its own; without an address quill web at its socket. least is how many
// bytes are read of an answer that does not end; 0: to its end.
func (h *honest) http(ctx context.Context, address, token, path string, least int64) error {
	_, err := h.answer(ctx, address, token, "GET", path, "", least)
	return err
}

func (h *honest) answer(
	ctx context.Context, address, token, method, path, body string, least int64, header ...string,
) ([]byte, error) {
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, to string) (
		net.Conn, error) {
		if address == "" {
			network, to = "unix", h.s.where.WebSocket()
		}
		return h.s.dialAs(ctx, h.s.honest, network, to)
	}}
	host := address
	if host == "" {
		host = "localhost"
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+host+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var text []byte
	if least == 0 {
		text, err = io.ReadAll(answer.Body)
	}
	if err == nil && answer.StatusCode >= 400 {
		err = fmt.Errorf("%s: %s %s", path, answer.Status, text)
	}
	return text, err
}

// logIn opens a session of the console.
func (h *honest) logIn(ctx context.Context) error {
	text, err := h.answer(ctx, h.s.web, h.s.tokens.honest, "POST", "/v1/session", "{}", 0)
	if err != nil {
		return err
	}
	var made struct{ Link string }
	if err := json.Unmarshal(text, &made); err != nil {
		return err
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Get(made.Link)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	for _, c := range answer.Cookies() {
		h.s.cookie = c.Name + "=" + c.Value
	}
	return nil
}

// submit submits a job over HTTP under a number that can be guessed, and reports an answer that claims a job which is
// not the user's.
func (h *honest) submit(ctx context.Context) error {
	h.mu.Lock()
	key := attacker.HonestKey(h.s.numbered)
	h.s.numbered++
	h.mu.Unlock()
	text, err := h.answer(ctx, h.s.web, h.s.tokens.honest, "POST", "/v1/jobs",
		`{"options":["-h","-N","nightly"],"command":["true"]}`, 0, "Idempotency-Key", key)
	if err != nil {
		return err
	}
	var made struct {
		Job uint32 `json:"job"`
		Seq uint64 `json:"seq"`
	}
	if err := json.Unmarshal(text, &made); err != nil {
		return err
	}
	path := fmt.Sprintf("/v1/jobs/%d?after=%d", made.Job, made.Seq)
	job, err := h.answer(ctx, h.s.web, h.s.tokens.honest, "GET", path, "", 0)
	gone := err != nil && strings.Contains(err.Error(), http.StatusText(http.StatusNotFound))
	switch {
	case err != nil && !gone:
		return err
	case gone || !strings.Contains(string(job), `"`+h.s.honest.name+`"`):
		h.mu.Lock()
		h.wrong = append(h.wrong, fmt.Sprintf("a submission was answered with job N, which is no job of %s", h.s.honest.name))
		h.mu.Unlock()
		return nil
	}
	_, err = h.answer(ctx, h.s.web, h.s.tokens.honest, "DELETE", fmt.Sprintf("/v1/jobs/%d", made.Job), "", 0)
	return err
}

// sleepers are jobs that run all the time, one on each host.
func (h *honest) sleepers(ctx context.Context) (ids []uint32, err error) {
	for _, host := range h.s.hosts {
		id, err := h.qsub(ctx, "-N", "sleeper", "-l", "h="+host, "-b", "y", "sleep", "100000")
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	h.s.sleepers = ids
	return ids, nil
}

// between is how long a service took of what was asked in a stretch of time.
func (h *honest) between(service string, from, to time.Time) (q quantiles) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var took, used []time.Duration
	for _, s := range h.samples[service] {
		if s.at.Before(from) || !s.at.Before(to) {
			continue
		}
		if s.err != "" {
			q.failed++
			q.why = s.err
			s.took = max(s.took, qsubMax) // who got nothing waits for ever
		}
		took, used = append(took, s.took), append(used, s.used)
	}
	slices.Sort(took)
	slices.Sort(used)
	at := func(all []time.Duration, p float64) time.Duration {
		if len(all) == 0 {
			return 0
		}
		return all[max(0, int(math.Ceil(p*float64(len(all))))-1)]
	}
	q.n, q.p50, q.p99, q.max = len(took), at(took, 0.5), at(took, 0.99), at(took, 1)
	q.used50, q.used99 = at(used, 0.5), at(used, 0.99)
	return q
}

// quantiles are those of many requests.
type quantiles struct {
	n, failed      int
	why            string // one failed
	p50, p99, max  time.Duration
	used50, used99 time.Duration // of processors, by the commands
}

// jsvText is a verifier of jobs that takes its time and writes down what it is sent.
const jsvText = `#!/bin/sh
while read -r line; do
	printf '%%s\n' "$line" >>%s
	case $line in
	START) echo "STARTED" ;;
	BEGIN) sleep 0.03; echo "RESULT STATE ACCEPT" ;;
	QUIT) exit 0 ;;
	esac
done
`

// jsv writes the verifier and returns its path.
func (c *canaries) jsv() (string, error) {
	path := filepath.Join(c.s.dir, "steps", "jsv")
	return path, program(path, fmt.Sprintf(jsvText, c.verified))
}
