package algorithm_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// dividing are entries with a division, without one and with parts of one.
var dividing = map[string]algorithm.Entry{
	"weighted": algorithm.Entry{Name: "weighted"}.Dividing(
		algorithm.Division{Promise: "by weight", Share: algorithm.ByWeight,
			Configure: func(conf *grid.SchedConf, of []algorithm.Project) {
				words := algorithm.Weighted("shares", of, func(i int) string { return fmt.Sprint(of[i].Weight) })
				conf.Sections = conf.WithSection(grid.Section{Algorithm: "weighted", Params: []grid.Param{words}})
			}}),
	"turns":   algorithm.Entry{Name: "turns"}.Dividing(algorithm.Division{Promise: "in turn", Share: algorithm.Equally}),
	"neither": {Name: "neither"},
}

// TestDivision executes the commands of testdata/division.txt, each with projects and their weights, NAME=WEIGHT:
//
//	promised ENTRY    the part of the cell that each project is promised
//	projects          the shares of project(5)
//	weighted          a parameter with a value for each
//	divide ENTRY      the configuration that divides a cell among them
//	preempting        the parameters with which an entry preempts
func TestDivision(t *testing.T) {
	datadriven.RunTest(t, "testdata/division.txt", func(t *testing.T, d *datadriven.TestData) string {
		var of []algorithm.Project
		var entry algorithm.Entry
		for _, a := range d.CmdArgs {
			if len(a.Vals) == 0 {
				entry = dividing[a.Key]
				continue
			}
			weight, err := strconv.ParseFloat(a.Vals[0], 64)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			of = append(of, algorithm.Project{Name: a.Key, Weight: weight})
		}
		var b strings.Builder
		switch d.Cmd {
		case "promised":
			sum := 0.0
			for i, p := range of {
				fmt.Fprintf(&b, "%s %.4f\n", p.Name, entry.Promised(of, i))
				sum += entry.Promised(of, i)
			}
			fmt.Fprintf(&b, "all %.4f\n", sum)
		case "projects":
			for _, p := range algorithm.Projects(of) {
				fmt.Fprintf(&b, "%s fshare %d\n", p.Name, p.FShare)
			}
		case "weighted":
			p := algorithm.Weighted("shares", of, func(i int) string { return strings.Repeat("x", i+1) })
			fmt.Fprintf(&b, "%s %q\n", p.Name, p.Text)
		case "divide":
			conf := grid.SchedConf{Algorithm: "other", MaxUJobs: 7}
			for line := range strings.SplitSeq(d.Input, "\n") {
				if name, text, _ := strings.Cut(line, " "); name != "" {
					conf.Sections = conf.WithSection(
						grid.Section{Algorithm: entry.Name, Params: append(conf.Section(entry.Name), grid.Param{Name: name, Text: text})})
				}
			}
			divided := entry.Divide(conf, of)
			fmt.Fprintf(&b, "algorithm %s, maxujobs %d\n%s", divided.Algorithm, divided.MaxUJobs,
				paramsText(divided.Section(entry.Name)))
			if conf.Algorithm != "other" {
				t.Errorf("the configuration of the caller has changed: %v", conf)
			}
		case "preempting":
			if entry.Preempting != nil {
				t.Errorf("%s preempts", entry.Name)
			}
			with := entry.WithPreempting(func(owners []algorithm.Project) []grid.Param {
				return []grid.Param{algorithm.Weighted("owners", owners, func(i int) string {
					return fmt.Sprint(owners[i].Weight)
				})}
			})
			fmt.Fprintf(&b, "%s %q\n%s", with.Name, with.Division.Promise, paramsText(with.Preempting(of)))
		default:
			d.Fatalf(t, "unknown command %s", d.Cmd)
		}
		return orNone(b.String())
	})
}

// TestGroupOf executes the commands of testdata/groups.txt: a grouping, and a job a line as project=P department=D
// owner=O queues=Q,Q. It shows the group of each.
func TestGroupOf(t *testing.T) {
	datadriven.RunTest(t, "testdata/groups.txt", func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd == "values" {
			return fmt.Sprintf("group_by %s\npreemption %s\n", strings.Join(algorithm.Groupings(), " "),
				strings.Join(algorithm.Preemptions(), " "))
		}
		var b strings.Builder
		for line := range strings.SplitSeq(d.Input, "\n") {
			j := &grid.Job{JobRequest: &grid.JobRequest{}}
			for _, w := range strings.Fields(line) {
				switch name, value, _ := strings.Cut(w, "="); name {
				case "project":
					j.Project = value
				case "department":
					j.Department = value
				case "owner":
					j.Owner = value
				case "queues":
					j.HardQueues = strings.Split(value, ",")
				case "soft":
					j.SoftQueues = strings.Split(value, ",")
				default:
					d.Fatalf(t, "unknown %s", name)
				}
			}
			fmt.Fprintf(&b, "%q\n", algorithm.GroupOf(d.Cmd, j))
		}
		return b.String()
	})
}
