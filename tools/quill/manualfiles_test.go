package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reporting"
	"github.com/quill-grid/quill/qmaster"
	"github.com/quill-grid/quill/qmaster/core/validate"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/tools/manual"
)

// attributes are the names that a file format has, with their defaults; "" for one without default.
type attributes map[string]string

// TestFilePages checks that each page of section 5 describes the attributes that the code has, no more and no fewer,
// and with their defaults.
func TestFilePages(t *testing.T) {
	pages := map[string]string{}
	for _, p := range manual.Pages() {
		if p.Section == 5 {
			pages[p.Name] = p.Text
		}
	}
	checked := map[string]bool{"sge_request": true, "sge_aliases": true, "quill-files": true} // have no attributes
	check := func(page string, want attributes) {
		t.Helper()
		checked[page] = true
		has := described(pages[page])
		for name, value := range want {
			d, ok := has[name]
			switch {
			case !ok:
				t.Errorf("%s(5) does not describe %s", page, name)
			case d.standard != value:
				t.Errorf("%s(5): the default of %s is %q, not %q", page, name, value, d.standard)
			}
		}
		for name := range has {
			if _, ok := want[name]; !ok {
				t.Errorf("%s(5) describes %s, which does not exist", page, name)
			}
		}
	}
	for page, kind := range map[string]grid.Kind{
		"queue_conf": grid.KindCQueue, "host_conf": grid.KindExecHost, "hostgroup": grid.KindHGroup,
		"complex": grid.KindCentry,
		"sge_pe":  grid.KindPE, "checkpoint": grid.KindCkpt, "user": grid.KindUser, "access_list": grid.KindUserset,
		"project": grid.KindProject, "sge_resource_quota": grid.KindRQS, "calendar_conf": grid.KindCalendar,
	} {
		want := attributesOf(kind)
		if kind == grid.KindExecHost {
			for _, line := range strings.Split((conf.Style{}).FormatExecHost(grid.DefaultExecHost("x"), nil), "\n") {
				if name, _, ok := strings.Cut(line, " "); ok {
					want[name] += ""
				}
			}
		}
		check(page, want)
	}
	check("share_tree", shareTreeAttributes())
	check("sge_conf", parameters())
	check("sched_conf", schedulerParameters(t))
	bootstrap := attributes{}
	options := qmaster.Options{}
	options.TLS.CA = "ca.pem"
	for _, p := range qmaster.Bootstrap("/cell", options, "tls://h1:6444") {
		bootstrap[p[0]] = ""
	}
	check("bootstrap", bootstrap)
	check("reporting", reportingRecords(t))
	checkAccounting(t, pages["accounting"])
	checked["accounting"] = true
	checkSchedule(t, pages["sge_schedule"])
	checked["sge_schedule"] = true
	for name := range pages {
		if !checked[name] {
			t.Errorf("nothing checks the attributes of %s(5)", name)
		}
	}
	checkEffects(t, described(pages["sge_conf"]))
	for _, f := range reporting.ShareFields {
		if !regexp.MustCompile(`[\s,]` + regexp.QuoteMeta(f.Name) + `[,.]`).MatchString(pages["reporting"]) {
			t.Errorf("reporting(5) does not name the field %s of sharelog records", f.Name)
		}
	}
}

// attribute is what a page says of one.
type attribute struct{ standard, text string }

// described returns the attributes that a page describes: the names in bold of the terms of its definition lists, with
// what stands after "default" and the definition. The default of a long list is the beginning of the definition.
func described(page string) map[string]attribute {
	out := map[string]attribute{}
	name := regexp.MustCompile(`\*\*([A-Za-z_][A-Za-z0-9_.]*)\*\*`)
	for _, m := range regexp.MustCompile(`(?m)^(\*\*.+)\n:   (.+)`).FindAllStringSubmatch(page, -1) {
		term, standard, _ := strings.Cut(m[1], ", default ")
		if long, ok := strings.CutPrefix(m[2], "Default: "); ok {
			standard, _, _ = strings.Cut(strings.ReplaceAll(long, ", ", ","), ".")
		}
		for _, n := range name.FindAllStringSubmatch(term, -1) {
			out[n[1]] = attribute{standard, m[2]}
		}
	}
	return out
}

// attributesOf returns the attributes of a kind with the values of a new object.
func attributesOf(kind grid.Kind) attributes {
	out := attributes{}
	for i, name := range conf.Attributes(kind) {
		out[name] = ""
		if o := grid.Default(kind, "x"); i > 0 && o != nil { // the first is the name
			out[name], _ = conf.Get(o, name)
		}
	}
	switch kind {
	case grid.KindRQS:
		out["limit"] = "to slots=0"
	case grid.KindCentry:
		out["shortcut"] = "" // the name
	}
	return out
}

func shareTreeAttributes() attributes {
	out := attributes{}
	for _, line := range strings.Fields(conf.Format(&grid.ShareTree{Nodes: []grid.ShareNode{{Name: "Root"}}})) {
		name, _, _ := strings.Cut(line, "=")
		out[name] = ""
	}
	return out
}

// parameters returns those of the configuration, and the words of its lists.
func parameters() attributes {
	out := attributes{}
	for _, p := range grid.Parameters() {
		out[p.Name], _ = grid.DefaultConf().Entries.Get(p.Name)
		for _, w := range p.Words {
			out[w.Name] = ""
		}
	}
	return out
}

// checkEffects checks that the page says of every parameter without effect that it has none, and of no other.
func checkEffects(t *testing.T, has map[string]attribute) {
	for _, p := range grid.Parameters() {
		for _, e := range append([]grid.Parameter{p}, p.Words...) {
			if unused := strings.HasPrefix(has[e.Name].text, "Stored and shown, not used: "); unused != (e.NoEffect != "") {
				t.Errorf("sge_conf(5): %s has no effect: the page %v, the code %q", e.Name, unused, e.NoEffect)
			}
		}
	}
}

// schedulerParameters returns those of the scheduler configuration, the words of params, and those of all algorithms.
func schedulerParameters(t *testing.T) attributes {
	out := attributesOf(grid.KindSchedConf)
	out["algorithm"] = grid.DefaultSchedConf().Algorithm
	for _, name := range validate.SchedParams {
		out[name] = ""
	}
	c := grid.DefaultSchedConf()
	for _, a := range shipped.Algorithms() {
		if err := a.Complete(c, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range c.Sections {
		for _, p := range s.Params {
			name := s.Algorithm + "." + p.Name
			if _, row := out[name]; row { // of a table
				p.Text = ""
			}
			out[name] = p.Text
		}
	}
	return out
}

// reportingRecords returns the records that pkg/reporting begins.
func reportingRecords(t *testing.T) attributes {
	files, err := filepath.Glob("../../pkg/reporting/*.go")
	if err != nil {
		t.Fatal(err)
	}
	out := attributes{}
	for _, f := range files {
		source, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`w\.begin\("(\w+)"\)`).FindAllStringSubmatch(string(source), -1) {
			out[m[1]] = ""
		}
	}
	return out
}

// checkAccounting checks the order of the fields by a record whose fields have the names, or the numbers, that the page
// gives them.
func checkAccounting(t *testing.T, page string) {
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^\*\*(\w+)\*\* .*\n:   `).FindAllStringSubmatch(page, -1) {
		names = append(names, m[1])
	}
	number := func(name string) int64 { return int64(slices.Index(names, name) + 1) }
	at := func(name string) grid.Time { return grid.Time(1000 * number(name)) }
	real := func(name string) float64 { return float64(number(name)) }
	line := accounting.Append(nil, &grid.Accounting{
		Queue: "qname", Host: "hostname", Group: "group", Owner: "owner", Name: "job_name", Job: uint32(number("job_number")),
		Account:  "account",
		Priority: int32(number("priority")), Submit: at("submission_time"), Start: at("start_time"), End: at("end_time"),
		Failed: uint32(number("failed")), ExitStatus: uint32(number("exit_status")), Project: "project",
		Department: "department", PE: "granted_pe",
		Slots: uint32(number("slots")), Array: true, Task: uint32(number("task_number")), Category: "category",
		PETask: "pe_taskid",
		AR:     uint32(number("arid")), ARSubmit: at("ar_submission_time"),
		Usage: grid.Usage{WallSeconds: real("ru_wallclock"), UserSeconds: real("ru_utime"), SystemSeconds: real("ru_stime"),
			MaxRSS:    real("ru_maxrss"),
			MinFaults: number("ru_minflt"), MajFaults: number("ru_majflt"), InBlocks: number("ru_inblock"),
			OutBlocks:   number("ru_oublock"),
			VolSwitches: number("ru_nvcsw"), InvolSwitches: number("ru_nivcsw"), CPU: real("cpu"), Mem: real("mem"),
			IO: real("io"), IOWait: real("iow"),
			MaxVMem: real("maxvmem")},
	})
	fields := strings.Split(string(line), ":")
	if len(fields) != len(names) || len(names) != accounting.Fields {
		t.Fatalf("accounting(5) describes %d fields of %d", len(names), len(fields))
	}
	has := described(page)
	for i, name := range names {
		field := strings.TrimSuffix(fields[i], ".000000")
		want := []string{name, strconv.Itoa(i + 1)}
		if has[name].text == "Always 0." {
			want = []string{"0"}
		}
		if !slices.Contains(want, field) {
			t.Errorf("accounting(5): field %d is not %s: %q", i+1, name, field)
		}
	}
}

// checkSchedule holds the page of the schedule file against the lines that a test of the scheduler expects: its
// example, and the states.
func checkSchedule(t *testing.T, page string) {
	text, err := os.ReadFile("../../schedd/algorithm/ticket/testdata/reserve.txt")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^ *(31\d\d:1:[A-Z]+:\d+:\d+:[A-Z]:.*)$`)
	var want, got []string
	for _, m := range line.FindAllStringSubmatch(string(text), -1) {
		want = append(want, m[1])
	}
	for _, m := range line.FindAllStringSubmatch(page, -1) {
		got = append(got, m[1])
	}
	if len(want) == 0 || !slices.Equal(want, got) {
		t.Errorf("sge_schedule(5) has %d lines of the example, the scheduler writes %d, or others", len(got), len(want))
	}
}
