package resources_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt/opttest"
	"github.com/quill-grid/quill/tools/ge/resources"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// TestHosts shows the hosts of the small cell.
func TestHosts(t *testing.T) {
	c := &opttest.FakeClient{Objects: opttest.SmallCell()}
	datadriven.RunTest(t, "testdata/qhost.txt", func(t *testing.T, d *datadriven.TestData) string {
		return opttest.RunLines(c, resources.RunQhost, d.Input)
	})
}

// TestOptions runs qquota without a cell.
func TestOptions(t *testing.T) {
	opttest.Transcripts(t, "testdata/quotaoptions.txt", resources.RunQquota, nil)
}

// TestQuotas shows quotas of a cell: hosts node1 to node3 with 4, 2 and 2 slots of all.q. The step cell says what
// there is besides, a line each:
//
//	rqs NAME RULE             a resource quota set, or another rule of it
//	run USER HOST SLOTS [RESOURCE=N]   a job that has started; the user's group has the same name
func TestQuotas(t *testing.T) {
	for _, file := range []string{"testdata/qquota.txt", "testdata/sets.txt"} {
		c := &opttest.FakeClient{Vars: map[string]string{"LOGNAME": "alice"}}
		datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "cell" {
				c.Objects = cell(t, d.Input)
				return ""
			}
			return opttest.RunLines(c, resources.RunQquota, d.Cmd+" "+d.Input)
		})
	}
}

func cell(t *testing.T, input string) []grid.Object {
	var sets, jobs, tasks []grid.Object
	for n, line := range strings.Split(input, "\n") {
		what, rest, _ := strings.Cut(line, " ")
		name, rest, _ := strings.Cut(rest, " ")
		switch what {
		case "rqs":
			if k := len(sets) - 1; k >= 0 && sets[k].Key().Name == name {
				set := sets[k].(*grid.RQS)
				set.Limits = append(set.Limits, rest)
			} else {
				sets = append(sets, &grid.RQS{Name: name, Enabled: true, Limits: grid.Names{rest}})
			}
		case "run":
			var host, requests string
			var slots uint32
			if read, err := fmt.Sscan(rest+" -", &host, &slots, &requests); read < 3 {
				t.Fatal(line, err)
			}
			j := &grid.Job{JobRequest: &grid.JobRequest{}, ID: uint32(n + 1), Owner: name, Group: name,
				Tasks: grid.Range{First: 1, Last: 1, Step: 1}}
			if resource, value, ok := strings.Cut(requests, "="); ok {
				number, err := strconv.ParseFloat(value, 64)
				if err != nil {
					t.Fatal(line, err)
				}
				j.Hard = grid.Requests{{Name: resource, Value: value, Num: number}}
			}
			jobs = append(jobs, j)
			tasks = append(tasks, &grid.JATask{Job: j.ID, ID: 1, Attempt: 1, Status: grid.Running, State: grid.StateRunning,
				Grants: []grid.Grant{{Queue: "all.q", Host: host, Slots: slots}}})
		default:
			t.Fatalf("unknown line %q", line)
		}
	}
	lists := slices.Concat([]grid.Object{
		&grid.Userset{Name: "us1", Type: "ACL", Entries: grid.Names{"alice"}},
		&grid.Userset{Name: "us2", Type: "ACL", Entries: grid.Names{"@bob"}},
		&grid.HGroup{Name: "@deep", HostList: grid.Names{"@g2"}},
		&grid.HGroup{Name: "@g1", HostList: grid.Names{"node1", "node2"}},
		&grid.HGroup{Name: "@g2", HostList: grid.Names{"node3"}},
	}, slices.DeleteFunc(opttest.SmallCell(), func(o grid.Object) bool {
		return slices.Contains([]grid.Kind{grid.KindJob, grid.KindJATask, grid.KindJobScheddInfo}, o.Kind())
	}), sets, jobs, tasks)
	return lists
}
