package resources_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt/opttest"
	"github.com/quill-grid/quill/tools/ge/resources"
)

// sharedCell has a share tree, two users with usage and three jobs.
func sharedCell() []grid.Object {
	conf := grid.DefaultSchedConf()
	conf.Halftime = 1
	booking := func(user, project string, ago, cpu, long float64) grid.Object {
		return &grid.Booking{User: user, Project: project, At: opttest.CellTime.Add(-ago),
			Decayed:  grid.Amounts{grid.UsageCPU: cpu, grid.UsageMem: 1},
			LongTerm: grid.Amounts{grid.UsageCPU: long, grid.UsageMem: 2}}
	}
	job := func(id uint32, owner, project string) grid.Object {
		return &grid.Job{JobRequest: &grid.JobRequest{}, ID: id, Name: "j", Owner: owner, Project: project,
			Spec: &grid.JobSpec{}}
	}
	return []grid.Object{conf,
		&grid.Project{Name: "p1"}, &grid.User{Name: "alice"}, &grid.User{Name: "bob"}, &grid.User{Name: "carl"},
		booking("", "p1", 0, 60, 90), booking("alice", "", 3600, 200, 300), booking("carl", "p1", 0, 60, 90),
		&grid.ShareTree{Nodes: []grid.ShareNode{
			{ID: 0, Name: "Root", Shares: 1, Children: []uint32{1, 2, 4}},
			{ID: 1, Name: "alice", Shares: 30},
			{ID: 2, Name: "grp", Shares: 50, Children: []uint32{3}},
			{ID: 3, Name: "bob", Shares: 5},
			{ID: 4, Type: grid.ShareProject, Name: "p1", Shares: 20, Children: []uint32{5, 6}},
			{ID: 5, Name: "alice", Shares: 4},
			{ID: 6, Name: "default", Shares: 1}}},
		job(1, "alice", ""), job(2, "bob", ""), job(3, "carl", "p1")}
}

// TestShares runs sge_share_mon on that cell, or on one without a tree.
func TestShares(t *testing.T) {
	c := &opttest.FakeClient{Objects: sharedCell()}
	datadriven.RunTest(t, "testdata/sharemon.txt", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "sge_share_mon":
			return opttest.RunLines(c, resources.RunShareMon, d.Input)
		case "nothing":
			c.Objects = nil
			return ""
		}
		t.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
		return ""
	})
}
