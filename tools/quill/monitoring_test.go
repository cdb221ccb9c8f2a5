package main

import (
	"encoding/json"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/quill-grid/quill/execd"
	"github.com/quill-grid/quill/qmaster"
	"github.com/quill-grid/quill/schedd"
	"github.com/quill-grid/quill/tools/manual"
)

// metricLabels returns the labels of all metrics of the daemons, by name.
func metricLabels() map[string][]string {
	out := map[string][]string{"up": nil, "process_resident_memory_bytes": nil,
		// of quill web: see TestReasonsAndInstances there
		"quill_jobs_waiting": {"reason"}, "quill_resource_instances": {"resource", "state"}}
	for _, table := range []reflect.Type{reflect.TypeFor[qmaster.Metrics](), reflect.TypeFor[schedd.Metrics](),
		reflect.TypeFor[execd.Metrics]()} {
		for _, f := range reflect.VisibleFields(table) {
			if name := f.Tag.Get("name"); name != "" {
				out[name] = strings.Split(f.Tag.Get("labels"), ",")
			}
			if name := f.Tag.Get("name"); f.Tag.Get("buckets") != "" {
				out[name+"_bucket"] = append(out[name], "le")
			}
		}
	}
	return out
}

// checkQuery checks that an expression has metrics and labels that there are.
func checkQuery(t *testing.T, query string, metrics map[string][]string) {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		t.Errorf("%s: %v", query, err)
		return
	}
	var labels, used []string
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			known, ok := metrics[n.Name]
			if !ok {
				t.Errorf("%s: there is no metric %q", query, n.Name)
			}
			labels = append(labels, known...)
			for _, m := range n.LabelMatchers {
				if m.Name != model.MetricNameLabel && m.Name != "job" && !slices.Contains(known, m.Name) {
					t.Errorf("%s: %s has no label %q", query, n.Name, m.Name)
				}
			}
		case *parser.AggregateExpr:
			used = append(used, n.Grouping...)
		}
		return nil
	})
	for _, label := range used {
		if !slices.Contains(labels, label) {
			t.Errorf("%s: no metric in it has the label %q", query, label)
		}
	}
}

// TestAlerts parses the rules as promtool does.
func TestAlerts(t *testing.T) {
	text, err := manual.File("quill-alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	rules, errs := rulefmt.Parse([]byte(text), false, model.UTF8Validation, parser.NewParser(parser.Options{}),
		slog.New(slog.DiscardHandler))
	for _, err := range errs {
		t.Error(err)
	}
	if len(errs) > 0 || len(rules.Groups) != 1 || len(rules.Groups[0].Rules) < 10 {
		t.Fatalf("rules: %+v", rules)
	}
	chapter, err := manual.Text("monitor")
	if err != nil {
		t.Fatal(err)
	}
	metrics := metricLabels()
	for _, r := range rules.Groups[0].Rules {
		checkQuery(t, r.Expr, metrics)
		if r.Labels["severity"] == "" || r.Annotations["summary"] == "" {
			t.Errorf("%s has no severity or no summary", r.Alert)
		}
		if !strings.Contains(chapter, "`"+r.Alert+"`") {
			t.Errorf("monitor.md does not describe the alert %s", r.Alert)
		}
	}
}

// TestDashboard checks the queries of the dashboard, and that its panels do not overlap.
func TestDashboard(t *testing.T) {
	text, err := manual.File("quill-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		UID    string
		Panels []struct {
			ID                       int
			Type, Title, Description string
			GridPos                  struct{ X, Y, W, H int }
			Targets                  []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(text), &dashboard); err != nil {
		t.Fatal(err)
	}
	metrics, taken, ids, queries := metricLabels(), map[[2]int]string{}, map[int]bool{}, 0
	for _, p := range dashboard.Panels {
		if ids[p.ID] || p.Title == "" || (p.Description == "") != (p.Type == "row") {
			t.Errorf("panel %d, %q: the id is not unique, or a title or description is missing", p.ID, p.Title)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if x >= 24 || taken[[2]int{x, y}] != "" {
					t.Fatalf("panel %q overlaps %q or the margin", p.Title, taken[[2]int{x, y}])
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		for _, target := range p.Targets {
			checkQuery(t, strings.ReplaceAll(target.Expr, "$__rate_interval", "5m"), metrics)
			queries++
		}
	}
	if dashboard.UID != "quill" || queries < 20 {
		t.Errorf("%q with %d queries", dashboard.UID, queries)
	}
}

// TestMetricsAreDocumented: the manual describes every metric.
func TestMetricsAreDocumented(t *testing.T) {
	text, err := manual.Text("monitor")
	if err != nil {
		t.Fatal(err)
	}
	for name := range metricLabels() {
		if strings.HasPrefix(name, "quill_") && !strings.HasSuffix(name, "_bucket") && !strings.Contains(text, "`"+name) {
			t.Errorf("monitor.md does not describe %s", name)
		}
	}
}
