package metrics

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	dto "github.com/prometheus/client_model/go"
)

// Options say what a Set asks of its daemon.
type Options struct {
	// Bare leaves out the metrics of the process and of the Go runtime.
	Bare bool
	// Ready returns why the daemon does not serve now, or nil. It must not wait. nil: always ready.
	Ready func() error
	// More are collected, too: metrics that are made when they are read.
	More []prometheus.Collector
	// Refresh is called before each scrape: it sets gauges that change with time alone. It must not wait. It may be nil.
	Refresh func()
}

// Set is the metrics of one daemon. It is a prometheus.Gatherer.
type Set struct {
	Options
	registry *prometheus.Registry
}

// New fills in the metrics of a table, a pointer to a struct, and returns them as a set, with those of the process and
// of the Go runtime. Each field is a prometheus.Counter, Gauge, Histogram, *CounterVec, *GaugeVec or *HistogramVec with
// the tags name and help, labels (separated by commas) if it is a Vec, and buckets (latency or wait) if it is a
// Histogram; an embedded struct is a table, too. It panics if a tag is wrong.
func New(table any, o Options) *Set {
	s := &Set{Options: o, registry: prometheus.NewRegistry()}
	if !o.Bare {
		s.registry.MustRegister(collectors.NewGoCollector(),
			collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	s.registry.MustRegister(o.More...)
	s.add(reflect.ValueOf(table).Elem())
	return s
}

// add fills in a table and those within it.
func (s *Set) add(table reflect.Value) {
	for i := range table.NumField() {
		f := table.Type().Field(i)
		if f.Anonymous {
			s.add(table.Field(i))
			continue
		}
		metric := newMetric(f)
		s.registry.MustRegister(metric)
		table.Field(i).Set(reflect.ValueOf(metric))
	}
}

// Gather returns all metrics as they are now.
func (s *Set) Gather() ([]*dto.MetricFamily, error) {
	if s.Refresh != nil {
		s.Refresh()
	}
	return s.registry.Gather()
}

// buckets are the upper bounds of histograms, in seconds.
var buckets = map[string][]float64{
	"latency": {.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	"wait":    {.1, 1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 24 * 3600, 72 * 3600, 168 * 3600},
}

// newMetric makes the metric of a field.
func newMetric(f reflect.StructField) prometheus.Collector {
	name, help, labels := f.Tag.Get("name"), f.Tag.Get("help"), strings.Split(f.Tag.Get("labels"), ",")
	histogram := prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets[f.Tag.Get("buckets")]}
	if isHistogram := strings.Contains(f.Type.String(), "Histogram"); name == "" || help == "" ||
		isHistogram != (histogram.Buckets != nil) {
		panic(fmt.Sprintf("metrics: tags of %s: %q", f.Name, f.Tag))
	}
	switch f.Type {
	case reflect.TypeFor[prometheus.Counter]():
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	case reflect.TypeFor[*prometheus.CounterVec]():
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	case reflect.TypeFor[prometheus.Gauge]():
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	case reflect.TypeFor[*prometheus.GaugeVec]():
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	case reflect.TypeFor[prometheus.Histogram]():
		return prometheus.NewHistogram(histogram)
	case reflect.TypeFor[*prometheus.HistogramVec]():
		return prometheus.NewHistogramVec(histogram, labels)
	}
	panic(fmt.Sprintf("metrics: %s is a %s", f.Name, f.Type))
}
