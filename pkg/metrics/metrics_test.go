package metrics

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// table has a metric of each type.
type table struct {
	Count prometheus.Counter       `name:"quill_t_count_total" help:"A counter."`
	By    *prometheus.CounterVec   `name:"quill_t_by_total" help:"A counter with labels." labels:"a,b"`
	Now   prometheus.Gauge         `name:"quill_t_now" help:"A gauge."`
	Nows  *prometheus.GaugeVec     `name:"quill_t_nows" help:"A gauge with labels." labels:"a"`
	Took  prometheus.Histogram     `name:"quill_t_seconds" help:"A histogram." buckets:"latency"`
	Waits *prometheus.HistogramVec `name:"quill_t_waits_seconds" help:"A histogram with labels." labels:"a" buckets:"wait"`
}

// get returns the status and the text of a page.
func get(t *testing.T, method, url, accept string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

func TestServe(t *testing.T) {
	var m table
	why, age := errors.New("standby: another qmaster leads"), 0.0
	set := New(&m, Options{Ready: func() error { return why }, Refresh: func() { age++; m.Now.Set(age) }})
	m.Count.Add(3)
	m.By.WithLabelValues("x", "y").Inc()
	m.Nows.WithLabelValues("x").Set(4)
	m.Took.Observe(.02)
	m.Waits.WithLabelValues("x").Observe(60)
	server, err := Serve("127.0.0.1:0", set, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + server.Address()
	page := func(method, path string, status int, texts ...string) {
		t.Helper()
		got, text := get(t, method, url+path, "application/openmetrics-text; version=1.0.0")
		if got != status {
			t.Errorf("%s %s: %d", method, path, got)
		}
		for _, want := range texts {
			if !strings.Contains(text, want) {
				t.Errorf("%s %s: no %q in\n%s", method, path, want, text)
			}
		}
	}
	page("GET", "/healthz", 200, "ok\n")
	page("GET", "/readyz", 503, "standby: another qmaster leads\n")
	why = nil
	page("GET", "/readyz", 200, "ok\n")
	page("GET", "/metrics", 200, "quill_t_count_total 3.0\n", `quill_t_by_total{a="x",b="y"} 1.0`, "quill_t_now 1.0\n",
		`quill_t_nows{a="x"} 4.0`,
		`quill_t_seconds_bucket{le="0.01"} 0`, `quill_t_seconds_bucket{le="0.025"} 1`, `quill_t_waits_seconds_count{a="x"} 1`,
		"process_resident_memory_bytes ", "go_goroutines ", "# EOF\n")
	page("GET", "/metrics", 200, "quill_t_now 2.0\n")
	for path, status := range map[string]int{"/": 404, "/metrics/x": 404, "/debug/pprof/": 404, "/healthz/": 404} {
		page("GET", path, status)
	}
	for _, method := range []string{"POST", "PUT", "DELETE"} {
		page(method, "/metrics", 405)
	}
	page("HEAD", "/metrics", 200)
	if problems, err := testutil.GatherAndLint(set); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
	if _, err := Serve(server.Address(), set, hclog.NewNullLogger()); err == nil ||
		!strings.Contains(err.Error(), "--http "+server.Address()) ||
		!strings.Contains(err.Error(), "address already in use") {
		t.Errorf("an address in use: %v", err)
	}
	server.Close()
	if c, err := net.Dial("tcp", server.Address()); err == nil {
		c.Close()
		t.Error("it is still served")
	}
}

func TestAddresses(t *testing.T) {
	for _, bad := range []string{"", "9464", ":9464", "localhost", "localhost:", "127.0.0.1:http", "127.0.0.1:65536",
		"127.0.0.1:-1", "::1:9464:x", "http://127.0.0.1:9464"} {
		if _, err := Serve(bad, New(&table{}, Options{}), hclog.NewNullLogger()); err == nil ||
			!strings.Contains(err.Error(), "is not HOST:PORT, as in 127.0.0.1:9464") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, good := range []string{"127.0.0.1:0", "[::1]:9464", "0.0.0.0:9464", "node1.example.com:1"} {
		if err := checkAddress(good); err != nil {
			t.Error(err)
		}
	}
}

// TestManyConnections: connections without a request do not keep others out, neither do readers that do not read.
func TestManyConnections(t *testing.T) {
	server, err := Serve("127.0.0.1:0", New(&table{}, Options{}), hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for i := range 200 {
		c, err := net.Dial("tcp", server.Address())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%2 == 0 {
			fmt.Fprint(c, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
		}
	}
	for _, path := range []string{"/healthz", "/metrics"} {
		answer, err := http.Get("http://" + server.Address() + path)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Body.Close(); answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, answer.Status)
		}
	}
}

// TestTags: a table with a wrong tag is a bug of the program.
func TestTags(t *testing.T) {
	for name, wrong := range map[string]any{
		"no help": &struct {
			A prometheus.Counter `name:"quill_a_total"`
		}{},
		"no buckets": &struct {
			A prometheus.Histogram `name:"quill_a_seconds" help:"A."`
		}{},
		"buckets": &struct {
			A prometheus.Gauge `name:"quill_a" help:"A." buckets:"wait"`
		}{},
		"a type": &struct {
			A int `name:"quill_a" help:"A."`
		}{},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: accepted", name)
				}
			}()
			New(wrong, Options{})
		}()
	}
}
