package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/submit"
)

const (
	// apiReaders is how many read all events at the same time in the case of many.
	apiReaders = 1000
	// apiEvents is how many events are awaited, apiPause what lies before each, of few and of many readers: it comes
	// alone.
	apiEvents, apiPause = 500, 10 * time.Millisecond
	manyEvents          = 10
	manyPause           = 2500 * time.Millisecond
	// apiGets is how often each request is sent.
	apiGets = 30
	// apiPast is the number of events before now in which moments are looked at.
	apiPast = 1_000_000
	// apiRounds is how often the rate of submits is measured with readers and, before and after that, without.
	apiRounds = 7
)

// api measures quill web beside qmaster, each a process of its own.
func api(ctx context.Context, r *suite) (err error) {
	s, err := r.newSite()
	if err != nil {
		return err
	}
	defer s.close(&err)
	n, durable := or(r.Jobs, 100_000), r.durable(true)
	if _, err := s.start(ctx, processPart{Role: "qmaster", Durable: durable}); err != nil {
		return err
	}
	w, err := s.web(ctx)
	if err != nil {
		return err
	}
	if err := w.events(ctx, durable); err != nil {
		return err
	}
	if err := w.rates(ctx, durable); err != nil {
		return err
	}
	if _, err := r.fill(ctx, s.where, max(n-w.submitted, 0)); err != nil {
		return err
	}
	if err := w.listings(ctx, n); err != nil {
		return err
	}
	return w.moments(ctx, n)
}

// webSite is a cell with quill web.
type webSite struct {
	*site
	url, token string
	conn       *client.Remote
	submitted  int // jobs by submit, which are pending
}

// web starts quill web, with the third of a share of the processors that its unit gives it.
func (s *site) web(ctx context.Context) (*webSite, error) {
	address := filepath.Join(s.dir, "address")
	if _, err := s.start(ctx, processPart{Role: "web", Output: address, Nice: 5}); err != nil {
		return nil, err
	}
	url, err := os.ReadFile(address)
	if err != nil {
		return nil, err
	}
	token, err := s.command(ctx, "quill", "token", "create").Output()
	if err != nil {
		return nil, fmt.Errorf("quill token create: %w", err)
	}
	conn, err := client.Connect(ctx, s.where)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { conn.Close() })
	return &webSite{site: s, url: string(url), token: strings.TrimSpace(string(token)), conn: conn}, nil
}

// submit submits one job, and returns the number of its event list.
func (w *webSite) submit(ctx context.Context) (uint64, error) {
	job, err := submit.Job(w.env.Origin(), "/bin/true")
	if err != nil {
		return 0, err
	}
	reply, err := w.conn.Do(ctx, "qsub", &gdi.Submit{Job: job})
	if err == nil {
		err = reply.Err()
	}
	w.submitted++
	return reply.Seq, err
}

// events measures how long after it is acknowledged, and so durable, a job is known to readers of events.
func (w *webSite) events(ctx context.Context, durable bool) error {
	for _, c := range []struct {
		readers, events int
		pause           time.Duration
		goal            goal
	}{{1, apiEvents, apiPause, goal{atMost: 5}}, {apiReaders, manyEvents, manyPause, goal{}}} {
		late, err := w.delays(ctx, c.readers, c.events, c.pause)
		if err != nil {
			return err
		}
		w.figure(Figure{
			Case: fmt.Sprintf("events, %d readers", c.readers), Value: late.at(0.99), Unit: "ms", Goal: c.goal,
			Facts: []fact{{"p50_ms", late.at(0.5)}, {"max_ms", late.at(1)}, {"events", c.events}, {"durable", durable}},
		})
	}
	return nil
}

// arrival is when the events of a list had come to a reader, in nanoseconds since 1970.
type arrival struct {
	Seq uint64
	At  int64
}

// delays submits jobs, and returns how long after the answer each reader had the events.
func (w *webSite) delays(ctx context.Context, readers, events int, pause time.Duration) (late durations, err error) {
	p := processPart{Role: "readers", URL: w.url, Token: w.token, Readers: readers,
		Output: filepath.Join(w.dir, "arrivals")}
	if p.Until, err = w.submit(ctx); err != nil {
		return nil, err
	}
	p.Until += uint64(events) // each submit is one list, and nothing else happens
	one, err := w.start(ctx, p)
	if err != nil {
		return nil, err
	}
	acknowledged := map[uint64]int64{}
	for range events {
		time.Sleep(pause)
		seq, err := w.submit(ctx)
		if err != nil {
			return nil, err
		}
		acknowledged[seq] = time.Now().UnixNano()
	}
	if err := one.cmd.Wait(); err != nil { // it ends when all have come
		return nil, err
	}
	one.over = true
	var all []arrival
	if err := readJSON(p.Output, &all); err != nil {
		return nil, err
	}
	for _, a := range all {
		if at, is := acknowledged[a.Seq]; is {
			late = append(late, max(0, time.Duration(a.At-at)))
		}
	}
	if len(late) != readers*events {
		err = fmt.Errorf("%d events came to %d readers, not %d", len(late), readers, readers*events)
	}
	return late, err
}

// rates measures what many readers cost those who submit. Readers stand for programs on other machines: they run with
// the policy SCHED_IDLE, sched(7), and take only what the cell leaves of the processors. Those that discard let the
// system drop what comes, which is as little as a reader on this machine can cost: the rest is what quill web costs. A
// process that computes reads nothing: what it costs, every other work on these processors does. Each is a share of
// what it was right before and after without, since a machine may be twice as fast in one minute as in the next.
func (w *webSite) rates(ctx context.Context, durable bool) error {
	beside := []struct {
		name  string
		part  processPart
		goal  goal
		share []float64 // of the rate without
		rate  []float64
	}{
		{name: fmt.Sprintf("submits beside %d readers", apiReaders), part: processPart{Role: "readers", Readers: apiReaders},
			goal: goal{atLeast: 0.95}},
		{name: fmt.Sprintf("submits beside %d that discard", apiReaders),
			part: processPart{Role: "readers", Readers: apiReaders, Discard: true}, goal: goal{atLeast: 0.95}},
		{name: "submits beside other work", part: processPart{Role: "compute"}},
	}
	before, err := w.rate(ctx)
	if err != nil {
		return err
	}
	for range apiRounds {
		for i := range beside {
			b := &beside[i]
			rate, err := w.rateBeside(ctx, b.part)
			if err != nil {
				return err
			}
			after, err := w.rate(ctx)
			if err != nil {
				return err
			}
			b.rate, b.share = append(b.rate, rate), append(b.share, 2*rate/(before+after))
			before = after
		}
	}
	for _, b := range beside {
		slices.Sort(b.rate)
		slices.Sort(b.share)
		w.figure(Figure{
			Case: b.name, Value: b.share[apiRounds/2], Unit: "x", Goal: b.goal,
			Facts: []fact{{"jobs_s", b.rate[apiRounds/2]}, {"least", b.share[0]}, {"most", b.share[apiRounds-1]}, {"clients", 1},
				{"durable", durable}},
		})
	}
	return nil
}

// rateBeside is the rate of submits beside a process.
func (w *webSite) rateBeside(ctx context.Context, p processPart) (rate float64, err error) {
	p.URL, p.Token, p.Idle = w.url, w.token, true
	other, err := w.start(ctx, p)
	if err != nil {
		return 0, err
	}
	if rate, err = w.rate(ctx); err != nil {
		return 0, err
	}
	return rate, other.stop()
}

// rate is how many jobs one client submits in a second.
func (w *webSite) rate(ctx context.Context) (float64, error) {
	const some = 3000 // of many readers each is woken meanwhile: see pace of tools/web/mirror
	begun := time.Now()
	for range some {
		if _, err := w.submit(ctx); err != nil {
			return 0, err
		}
	}
	return some / time.Since(begun).Seconds(), nil
}

// listings measures requests to a cell of n pending jobs, each after a change.
func (w *webSite) listings(ctx context.Context, n int) error {
	for _, c := range []struct {
		name, path string
		lines      bool
		rows       int
		goal       goal
	}{
		{"all jobs as lines", "/v1/jobs", true, n, goal{atMost: 500}},
		{"a page of jobs", "/v1/jobs?limit=100", false, 100, goal{atMost: 50}},
		{"a page filtered and sorted", "/v1/jobs?state=p&user=" + w.env.User() + "&sort=-submit&limit=100", false, 100,
			goal{atMost: 50}},
		{"metrics", "/metrics", false, 0, goal{atMost: 20}},
	} {
		var took durations
		for range apiGets {
			seq, err := w.submit(ctx)
			if err != nil {
				return err
			}
			if _, _, err := w.get(ctx, fmt.Sprintf("/v1/cell?after=%d", seq), false); err != nil {
				return err
			}
			d, rows, err := w.get(ctx, c.path, c.lines)
			if err != nil {
				return err
			}
			if rows < c.rows {
				return fmt.Errorf("%s has %d rows, not %d", c.path, rows, c.rows)
			}
			took = append(took, d)
		}
		w.figure(Figure{Case: count(n) + " " + c.name, Value: took.at(0.5), Unit: "ms", Goal: c.goal,
			Facts: []fact{{"max_ms", took.at(1)}, {"requests", apiGets}}})
	}
	return nil
}

// get returns how long a request took until the whole answer was read, and how many rows the answer had.
func (w *webSite) get(ctx context.Context, path string, lines bool) (took time.Duration, rows int, err error) {
	h := http.Header{"Authorization": {"Bearer " + w.token}}
	if lines {
		h.Set("Accept", "application/x-ndjson")
	}
	return w.ask(ctx, http.DefaultClient, path, h)
}

// ask is get with a client and the header of the request.
func (w *webSite) ask(
	ctx context.Context, c *http.Client, path string, h http.Header,
) (took time.Duration, rows int, err error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+path, nil)
	if err != nil {
		return 0, 0, err
	}
	maps.Copy(q.Header, h)
	begun := time.Now()
	a, err := c.Do(q)
	if err != nil {
		return 0, 0, err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	took = time.Since(begun)
	if err == nil && a.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s: %s", path, a.Status, text)
	}
	return took, bytes.Count(text, []byte{'\n'}), err
}

// moments measures the first and second request for moments in the last apiPast events.
func (w *webSite) moments(ctx context.Context, n int) error {
	events, err := w.age(ctx, n)
	if err != nil {
		return err
	}
	now, err := w.submit(ctx)
	if err != nil {
		return err
	}
	if _, _, err := w.get(ctx, fmt.Sprintf("/v1/jobs?limit=1&after=%d", now), false); err != nil { // quill web may lag
		return err
	}
	var first, second durations
	random := rand.New(rand.NewPCG(1, 1))
	for range apiGets {
		path := fmt.Sprintf("/v1/jobs?limit=100&at=%d", 1+random.Uint64N(now))
		for _, all := range []*durations{&first, &second} {
			took, _, err := w.get(ctx, path, false)
			if err != nil {
				return err
			}
			*all = append(*all, took)
		}
	}
	facts := []fact{{"events", events}, {"lists", now}, {"requests", apiGets}}
	w.figure(Figure{Case: count(n) + " at a moment", Value: first.at(1), Unit: "ms", Goal: goal{atMost: 1000},
		Facts: append([]fact{{"p50_ms", first.at(0.5)}}, facts...)})
	w.figure(Figure{Case: count(n) + " at it again", Value: second.at(1), Unit: "ms", Goal: goal{atMost: 100},
		Facts: append([]fact{{"p50_ms", second.at(0.5)}}, facts...)})
	return w.pages(ctx, n, now, facts)
}

// apiPages are the pages of the console that are measured at moments: one of each kind.
var apiPages = []string{"/", "/jobs", "/jobs/1", "/hosts", "/queues", "/quotas", "/reservations", "/plan", "/shares",
	"/scheduler", "/log", "/config?kind=cqueue"}

// pages measures each page of the console at moments that no request was about before, as a browser asks for them.
func (w *webSite) pages(ctx context.Context, n int, now uint64, facts []fact) error {
	browser, err := w.browser(ctx)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(2, 2))
	var all durations
	slowest, which := time.Duration(0), ""
	for _, page := range apiPages {
		for range apiRounds {
			sign := "?"
			if strings.Contains(page, "?") {
				sign = "&"
			}
			took, _, err := w.ask(ctx, browser, fmt.Sprintf("%s%sat=%d", page, sign, 1+random.Uint64N(now)), nil)
			if err != nil {
				return err
			}
			if all = append(all, took); took > slowest {
				slowest, which = took, page
			}
		}
	}
	w.figure(Figure{Case: count(n) + " pages at a moment", Value: all.at(1), Unit: "ms", Goal: goal{atMost: 1000},
		Facts: append([]fact{{"p50_ms", all.at(0.5)}, {"slowest", which}, {"pages", len(apiPages)}}, facts...)})
	return nil
}

// browser returns a client with the cookie of a session.
func (w *webSite) browser(ctx context.Context) (*http.Client, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/v1/session", strings.NewReader("{}"))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Authorization", "Bearer "+w.token)
	q.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	var made struct{ Link string }
	if err := json.NewDecoder(a.Body).Decode(&made); err != nil {
		return nil, err
	}
	path, found := strings.CutPrefix(made.Link, w.url)
	if !found {
		return nil, fmt.Errorf("POST /v1/session: %s: %q is no link to %s", a.Status, made.Link, w.url)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	browser := &http.Client{Jar: jar}
	_, _, err = w.ask(ctx, browser, path, nil)
	return browser, err
}

// age makes events of the jobs until there are apiPast, and returns how many there are about.
func (w *webSite) age(ctx context.Context, n int) (events int, err error) {
	const together = 100 // jobs of a request
	alter := []gdi.Alter{{HoldAdd: "u"}, {HoldRemove: "u"}}
	for round := 0; events+n < apiPast; round++ {
		w.progress("%d of %d events", events+n, apiPast)
		var working sync.WaitGroup
		var mu sync.Mutex
		for at := range 16 {
			working.Go(func() {
				for first := 1 + at*together; first <= n; first += 16 * together {
					a := alter[round%2]
					for id := first; id < first+together && id <= n; id++ {
						a.Jobs.Refs = append(a.Jobs.Refs, gdi.JobRef{ID: uint32(id)})
					}
					failed := do(ctx, w.conn, "qalter", &a)
					mu.Lock()
					err = errors.Join(err, failed)
					mu.Unlock()
				}
			})
		}
		if working.Wait(); err != nil {
			return 0, err
		}
		events += n
	}
	return events + n, nil
}

// readers reads all events over many connections. With Until it writes when each had what list, and ends after that
// one.
func (p processPart) readers(ctx context.Context, ready func()) error {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	c := &http.Client{Transport: transport}
	var reading sync.WaitGroup
	var mu sync.Mutex
	var all []arrival
	var failed error
	for range p.Readers {
		path := p.URL + "/v1/events"
		if p.Until > 0 {
			path += fmt.Sprintf("?to=%d", p.Until)
		}
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, path, nil)
		if err != nil {
			return err
		}
		q.Header.Set("Authorization", "Bearer "+p.Token)
		a, err := c.Do(q)
		if err != nil {
			return err
		}
		if a.StatusCode != http.StatusOK {
			return fmt.Errorf("GET %s: %s", path, a.Status)
		}
		reading.Go(func() {
			defer a.Body.Close()
			if p.Until == 0 {
				io.Copy(io.Discard, a.Body) // until it is ended
				return
			}
			mine, err := arrivals(a.Body, p.Until)
			mu.Lock()
			defer mu.Unlock()
			if all = append(all, mine...); ctx.Err() == nil {
				failed = errors.Join(failed, err)
			}
		})
	}
	ready()
	reading.Wait()
	if p.Until == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b arrival) int { return int(a.At - b.At) })
	return errors.Join(failed, writeJSON(p.Output, all))
}

// arrivals reads server-sent events up to a list. Of each list the last event has its number.
func arrivals(body io.Reader, until uint64) (all []arrival, err error) {
	in := bufio.NewScanner(body)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		number, is := strings.CutPrefix(in.Text(), "id: ")
		if !is {
			continue
		}
		a := arrival{At: time.Now().UnixNano()}
		if a.Seq, err = strconv.ParseUint(number, 10, 64); err != nil {
			return all, err
		}
		if len(all) == 0 || all[len(all)-1].Seq < a.Seq { // a mark has the number of what came before
			all = append(all, a)
		}
		if a.Seq == until {
			return all, nil
		}
	}
	return all, errors.Join(io.ErrUnexpectedEOF, in.Err())
}
