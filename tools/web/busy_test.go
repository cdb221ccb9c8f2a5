package web

import (
	"context"
	"fmt"
	"testing"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/qmaster/core"
	"github.com/quill-grid/quill/tools/console"
)

// busy makes a cell after a morning of work: jobs that run, wait for all kinds of reasons, have failed.
func busy(t *testing.T) *testCell {
	c := newCell(t, 12)
	c.plain = true
	c.server.options.Master = func() string { return "master" }
	c.server.streams.ask = func(context.Context) ([]gdi.Stream, error) {
		return []gdi.Stream{{Name: "GE_EVENTS", Leader: "n1", Messages: 76, Bytes: 48_000,
			Replicas: []gdi.Replica{{Server: "n2", Current: true}, {Server: "n3", Current: true}}}}, nil
	}
	c.explainWaits()
	c.writes("/home/alice/render06.o7",
		"frame 0001 of 0240 rendered in 41.2 s\nframe 0002 of 0240 rendered in 39.8 s\nframe 0003 of 0240 rendered in 40.5 s\n")
	c.shares()
	c.configure("rqs", "fair", "{\nname fair\nenabled TRUE\nlimit users {*} to slots=6\n}\n")
	for n := range 3 {
		if reply := c.ask("root", "",
			&gdi.Reserve{AR: &grid.AR{Name: "course", Start: c.now.Add(7200 + 86400*float64(n)), Duration: 5400}}); !reply.OK() {
			t.Fatal(reply.Answers)
		}
	}
	c.later("1s")
	for i := range 12 {
		c.load(i+1, fmt.Sprintf("%.2f", 0.15+0.35*float64(i%7)))
	}
	for i := range 14 {
		c.submit([]string{"alice", "bob", "carol"}[i%3], "-N", fmt.Sprintf("render%02d", i), "-P",
			[]string{"film", "film", "trailer"}[i%3], "-l", "h_rt=3600", "render", "--frames", "1-240")
	}
	c.run()
	c.run()
	for job := range uint32(6) {
		c.end(job+1, job%3)
		c.run()
	}
	c.submit("alice", "-N", "sweep", "-P", "film", "-t", "1-60", "-l", "h_rt=600", "sweep.sh", "--step", "0.05")
	c.run()
	c.submit("bob", "-N", "assembly", "-pe", "make", "4", "-R", "y", "-l", "h_rt=7200", "assemble", "scene4")
	c.submit("carol", "-N", "report", "-hold_jid", "assembly", "report.sh")
	c.submit("carol", "-N", "nightly", "-h", "nightly.sh")
	c.submit("bob", "-N", "toobig", "-l", "num_proc=64", "solve", "--matrix", "full")
	for range 3 {
		c.run()
	}
	c.takeOver()
	c.ask("root", "", &gdi.Control{Action: "disable", Queues: true, Refs: []string{"all.q@h9"}})
	c.ask("root", "", &gdi.Control{Action: "suspend", Refs: []string{"9"}})
	c.run()
	return c
}

// shares makes the projects film and trailer, a share tree of them, and has the scheduler give tickets.
func (c *testCell) shares() {
	for name, shares := range map[string]string{"film": "300", "trailer": "100"} {
		c.configure("project", name, "name "+name+"\noticket 0\nfshare "+shares+"\nacl NONE\nxacl NONE\n")
	}
	for _, name := range []string{"alice", "bob", "carol"} {
		c.configure("user", name, "name "+name+"\noticket 0\nfshare 100\ndelete_time 0\ndefault_project NONE\n")
	}
	c.configure("sharetree", "sharetree",
		"id=0\nname=Root\ntype=0\nshares=1\nchildnodes=1,2\nid=1\nname=film\ntype=1\nshares=300\nchildnodes=3,4\nid=2\nname=trailer\ntype=1\nshares=100\nchildnodes=5\n"+
			"id=3\nname=alice\ntype=0\nshares=20\nchildnodes=NONE\nid=4\nname=default\ntype=0\nshares=10\nchildnodes=NONE\nid=5\nname=default\ntype=0\nshares=10\nchildnodes=NONE\n")
	s := *c.c.Core.State().SchedConf()
	s.WeightTicketsShare, s.WeightTicketsFunctional, s.WeightTicket, s.ReprioritizeInterval, s.MaxReservation,
		s.ReportPJobTickets = 9000, 1000, 0.5, "0:0:10", 20, true
	if reply := c.ask("root", "", &gdi.Modify{Objects: []grid.Object{&s}}); !reply.OK() {
		c.t.Fatal(reply.Answers)
	}
}

// person is a session of a user that asks for nothing else.
type person struct {
	console.Session
	user string
}

func (p person) User() string { return p.user }

// compared makes the comparison whose page is among shots.
func (c *testCell) compared() *testCell {
	c.t.Helper()
	if _,
		err := c.server.cell.Try(person{user: "root"}, console.WhatIf{From: "1", Algorithms: []string{"fbsng", "roundrobin"},
		Shares: map[string]string{"film": "100", "trailer": "300"}}); err != nil {
		c.t.Fatal(err)
	}
	<-c.server.cell.trials.kept[0].ended
	return c
}

// explainWaits has the scheduler report why jobs wait.
func (c *testCell) explainWaits() {
	s := *c.c.Core.State().SchedConf()
	s.ScheddJobInfo = "true"
	if reply := c.ask("root", "", &gdi.Modify{Objects: []grid.Object{&s}}); !reply.OK() {
		c.t.Fatal(reply.Answers)
	}
}

// takeOver has hosts report that all started tasks run.
func (c *testCell) takeOver() {
	var reports []report.Report
	c.c.Core.State().Each(grid.KindJATask, func(o grid.Object) bool {
		if t := o.(*grid.JATask); t.Status == grid.Transfering {
			reports = append(reports, report.Report{Host: t.Grants[0].Host, Tasks: []report.Task{{
				Attempt: report.Attempt{Job: t.Job, Task: t.ID, N: t.Attempt}, Phase: report.Running, Start: t.Start,
				Usage: grid.Usage{CPU: 42, VMem: 3e8, MaxVMem: 5e8, WallSeconds: 44}}}})
		}
		return true
	})
	for _, r := range reports {
		c.step(core.Report{Report: r})
	}
}

// load has a host report its load.
func (c *testCell) load(host int, load string) {
	c.step(core.Report{Report: report.Report{Host: fmt.Sprintf("h%d", host),
		Load: &report.Load{Processors: 8, At: c.time(), Values: grid.Values{
			{Name: "arch", Text: "lx-amd64"}, {Name: "load_avg", Text: load}, {Name: "np_load_avg", Text: load},
			{Name: "num_proc", Text: "8"},
			{Name: "mem_total", Text: "32G"}, {Name: "mem_used", Text: "9.5G"}, {Name: "mem_free", Text: "22.5G"},
			{Name: "m_core", Text: "8"}, {Name: "m_socket", Text: "1"}}}}})
}

// shots are the pages that the manual shows and axe examines.
var shots = []struct{ name, path string }{
	{"cell", "/"}, {"jobs", "/jobs"}, {"job", "/jobs/16"}, {"array", "/jobs/15"}, {"output", "/jobs/7/output"},
	{"hosts", "/hosts"}, {"host", "/hosts/h5"}, {"queues", "/queues"}, {"quotas", "/quotas"},
	{"reservations", "/reservations"}, {"plan", "/plan?window=6h"}, {"shares", "/shares?by=project"},
	{"scheduler", "/scheduler"}, {"whatif", "/whatif"}, {"comparison", "/whatif/1"}, {"configuration", "/config?kind=pe"},
	{"log", "/log?job=15"}, {"differences", "/log?since=70"}, {"past", "/jobs?at=2026-03-02T08:01:00Z"},
	{"missing", "/nowhere"}, {"proposals", "/proposals"},
}

// prepare makes what a page is about. A proposal is in the menu of all pages, so its page is the last one.
func (c *testCell) prepare(page string) {
	if page == "proposals" {
		c.propose("bob", &gdi.Alter{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: 16}}}, HoldAdd: "u"})
	}
}
