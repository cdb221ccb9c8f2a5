package sched_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/testkit"
)

// TestFollowedAnswers has random lines happen in random cells. After each the followed Cluster must answer all
// questions as one that is built from the full state, its copy and a lent one; and a branch that follows other lines
// must not be disturbed.
func TestFollowedAnswers(t *testing.T) {
	testkit.EachSeed(t, 6, func(t *testing.T, seed uint64) {
		lines := randomLines(seed, 60)
		if at, why := replay(lines); why != "" {
			short := reduce(lines[:at+1])
			_, why = replay(short)
			t.Errorf("%s\n%s", strings.Join(short, "\n"), why)
		}
	})
}

// replay carries out lines until a comparison finds a difference. A line that begins with "branch" makes a branch of
// the cell; one that begins with "> " happens there.
func replay(lines []string) (at int, why string) {
	c := newCell()
	var side *cell
	for i, line := range lines {
		rest, aside := strings.CutPrefix(line, "> ")
		switch {
		case line == "branch":
			side = c.branch()
		case aside && side != nil:
			side.do(rest)
			if why := side.compare(); why != "" {
				return i, "branch: " + why
			}
		case !aside:
			c.do(line)
		}
		if strings.HasPrefix(line, "complex") || i+1 < len(lines) && strings.HasPrefix(lines[i+1], "> ") {
			continue // a branch follows its own events before this cell is compared
		}
		if why := c.compare(); why != "" {
			return i, why
		}
	}
	return 0, ""
}

// reduce leaves out lines as long as a difference is found.
func reduce(lines []string) []string {
	for step := len(lines) / 2; step > 0; {
		found := false
		for i := 0; i+step <= len(lines); i++ {
			less := append(append([]string{}, lines[:i]...), lines[i+step:]...)
			if _, why := replay(less); why != "" {
				lines, found = less, true
				break
			}
		}
		if !found {
			step /= 2
		} else if step > len(lines) {
			step = len(lines)
		}
	}
	return lines
}

type dice struct{ *rand.Rand }

func (d dice) of(words ...string) string { return words[d.IntN(len(words))] }
func (d dice) one(in int) bool           { return d.IntN(in) == 0 }

// randomLines returns the line of a cell, then lines of all kinds.
func randomLines(seed uint64, n int) []string {
	d := dice{rand.New(rand.NewPCG(seed, 1))}
	lines := []string{
		"complex slots INT <= YES YES 1 1000", "complex mem MEMORY <= YES YES 100M", "complex h_rt TIME <= YES NO 0",
		"complex lic INT <= YES JOB 0",
		"complex seat INT <= YES HOST 0", "complex gpu RSMAP <= YES YES 0 10", "complex model STRING == YES NO NONE",
		"complex np_load_avg DOUBLE >= NO NO 0",
		"complex num_proc INT == YES NO 0", "complex alone BOOL EXCL YES YES 0", "complex disk MEMORY <= YES NO 0",
		"complex s_rt TIME <= YES NO 0", "complex h_vmem MEMORY <= YES YES 0",
		"complex m_topology_tree STRING == YES NO NONE",
	}
	lines = append(lines, d.sched(), "hgroup @all h1 h2 h3", "hgroup @some h1", "userset staff u0 u1",
		"maps global lic=4 seat=4 gpu=3(c[model=y]~d[model=x]~e)",
		d.host("h1"), d.host("h2"), d.host("h3"), d.pe(), "pe fix slots=8 allocation_rule=2", d.queue("all.q"),
		d.queue("low.q"))
	for i := range n {
		if i == n/2 {
			lines = append(lines, "branch")
		}
		line := d.line(i)
		if d.one(5) {
			line = "together " + line + "; " + d.line(i) + "; " + d.line(i)
		}
		if i > n/2 && d.one(4) {
			line = "> " + line
		}
		lines = append(lines, line)
	}
	return lines
}

func (d dice) sched() string {
	s := "sched load_formula=" + d.of("np_load_avg", "slots", "np_load_avg-slots")
	if d.one(2) {
		s += " max_reservation=5 default_duration=0:5:0"
	}
	if d.one(2) {
		s += " job_load_adjustments=np_load_avg=0.5"
	}
	if d.one(3) {
		s += " queue_sort_method=seqno"
	}
	if d.one(3) {
		s += " maxujobs=3"
	}
	return s
}

func (d dice) host(name string) string {
	s := fmt.Sprintf("host %s processors=2 num_proc=2 np_load_avg=%.1f complex_values=mem=%dM", name,
		d.Float64(), 300+d.IntN(600))
	if d.one(2) {
		s += ",seat=2"
	}
	if d.one(3) {
		s += ",alone=true"
	}
	if d.one(3) {
		s += ",slots=" + d.of("1", "2", "3")
	}
	if d.one(5) {
		s += " user_lists=staff"
	}
	if d.one(5) {
		s += " xprojects=p1"
	}
	if d.one(2) {
		s += " m_topology_tree=" + d.of("SCTTCTT", "NSXCTTCTTNSXCTTCTT", "SCC")
	}
	return s + " disk=" + d.of("1G", "5G")
}

func (d dice) pe() string {
	return "pe mpi slots=" + d.of("3", "6", "99") + " allocation_rule=" +
		d.of("$round_robin", "$fill_up", "$pe_slots", "1")
}

func (d dice) queue(name string) string {
	s := "queue " + name + " hosts=" + d.of("@all", "h1,h2", "@some", "h2,h3") + " slots=" + d.of("2", "4", "3,[h1=1]") +
		" seq_no=" + d.of("1", "2,[h2=0]")
	s += " pe_list=mpi,fix"
	for _, part := range []string{" load_thresholds=np_load_avg=1.5",
		" suspend_thresholds=np_load_avg=2 nsuspend=1 suspend_interval=0:1:0", " calendar=cal", " user_lists=staff",
		" complex_values=h_vmem=4G", " complex_values=alone=true", " projects=p1", " h_rt=100", " xuser_lists=staff"} {
		if d.one(5) && !(strings.Contains(part, "complex_values") && strings.Contains(s, "complex_values")) {
			s += part
		}
	}
	return s
}

func (d dice) instance() string { return d.of("all.q", "low.q") + "@" + d.of("h1", "h2", "h3") }

func (d dice) job(id string) string {
	s := "submit " + id + " owner=" + d.of("u0", "u1", "u2")
	var ask []string
	for _, part := range []string{"mem=" + d.of("50M", "200M", "400M"), "lic=1", "seat=" + d.of("1", "2"),
		"gpu=" + d.of("1", "2", "1[model=x]", "1[model=y|z]"), "h_rt=" + d.of("30", "90", "600"),
		"alone=1", "disk=2G", "h_vmem=1G"} {
		if d.one(4) {
			ask = append(ask, part)
		}
	}
	if len(ask) > 0 {
		s += " l=" + strings.Join(ask, ",")
	}
	if d.one(3) {
		s += " pe=" + d.of("mpi:1-4", "mpi:2", "fix:2-4", "*:2")
		if d.one(3) {
			s += " masterl=mem=100M"
		}
	}
	for _, part := range []string{" P=" + d.of("p1", "p2"), " q=" + d.of("all.q", "low.q", "*@h1", "*@@some"),
		" soft=disk=3G", " t=1-3", " ar=1", " now=y", " R=y"} {
		if d.one(6) {
			s += part
		}
	}
	return s
}

// id is a job that may exist.
func (d dice) id() string { return fmt.Sprint(1 + d.IntN(12)) }

func (d dice) task() string { return d.id() + "." + d.of("1", "1", "1", "2") }

func (d dice) line(i int) string {
	switch k := i % 4; {
	case i < 12:
		return d.job(fmt.Sprint(1 + i))
	case i < 20:
		return "run " + fmt.Sprint(i-11) + ".1"
	case k == 0:
		return "run " + d.task()
	}
	k := d.IntN(44)
	switch k {
	case 0, 1, 2:
		return d.job(d.id())
	case 3, 4, 5, 6, 7, 8, 9, 10:
		return "run " + d.task()
	case 11:
		return "start " + d.task() + " " + d.instance()
	case 12, 13, 14:
		return "end " + d.task()
	case 15, 16, 17:
		return "suspend " + d.task() + " " + d.of("user", "threshold", "slotwise", "subordinate", "preempted", "preempted")
	case 18:
		return "resume " + d.task()
	case 19:
		return "limits " + d.task() + " " + d.of("h_rt=60", "h_rt=900", "h_vmem=2G", "h_vmem=500M") + d.of("", " changing")
	case 20:
		return "usage " + d.task()
	case 21:
		return "bind " + d.id() + " " + d.of("slot", "host") + " " + d.of("1", "2") + " " + d.of("C", "T", "S")
	case 22, 23:
		return "load " + d.of("h1", "h2", "h3") + " np_load_avg=" + d.of("0.1", "0.8", "1.6", "2.5") +
			d.of("", " disk=1G", " m_topology_tree=SCTTCTT")
	case 24:
		return "silent " + d.of("h1", "h2", "h3")
	case 25:
		return "maps " + d.of("h1", "h2", "global") + " gpu=" + d.of("2(a[model=x]~b[model=y])", "3(c[model=y]~d[model=x]~e)",
			"1(a)", "2(a~a)")
	case 26:
		return "health gpu " + d.of("a", "c", "d") + " " + d.of("h1", "global") + " " + d.of("on", "disabled", "failed")
	case 27:
		return "subordinate all.q " + d.of("low.q", "low.q=1", "slots=2(low.q:1:sr)", "slots=3(low.q:0:lr)")
	case 28:
		return "rules " + d.of("a", "b") + " " + d.of("users~{*}~to~slots=2", "users~u0~hosts~{*}~to~slots=1,mem=200M",
			"hosts~h1,h2~pes~*~to~slots=3,lic=1,seat=2",
			"hosts~{*}~to~slots=$num_proc*2-1", "users~@staff~to~gpu=1", "projects~{*}~to~slots=1",
			"queues~low.q~to~slots=1 users~u1~to~slots=3", "users~u0~to~h_rt=60")
	case 29:
		return "off " + d.of("a", "b")
	case 30:
		return d.of("orphan ", "instance ") + d.instance()
	case 31:
		return "calendar cal from=" + d.of("0", "60", "400") + " to=" + d.of("500", "1000")
	case 32:
		if d.one(2) {
			return "calstate cal " + d.of("open", "disabled", "suspended")
		}
		return "qstate " + d.instance() + " " + d.of("", "d", "s", "E", "S")
	case 33, 34:
		return "ar 1 " + d.of("u0", "u1") + d.of(" from=0", " from=0", " from=100 state=w") + d.of(" to=500", " to=3000") +
			d.of("", " acl=u0,u1", " acl=@staff") + d.of("", " l=mem=100M", " l=gpu=1", " l=lic=1", " l=gpu=1[model=x]") +
			d.of("", "", " state=E", " state=d") + d.of(" ", " pe=mpi ") + d.of("all.q@h1:1 all.q@h2:2", "low.q@h2:2 low.q@h3:1",
			d.instance()+":1", d.instance()+":2")
	case 35:
		return "remove " + d.of("AR 1", "PE mpi", "RQS a", "CALENDAR cal", "USERSET staff", "HGROUP @some", "CENTRY disk",
			"EXECHOST h3", "PROJECT p1", "CQUEUE low.q", "LOAD h2", "CENTRY gpu")
	case 36:
		return d.of(d.sched(), "conf max_aj_instances="+d.of("0", "2"))
	case 37:
		return d.of("userset staff u0", "userset staff u1 u2", "project p1", "hgroup @some h1 h2", "hgroup @some h3",
			"load global lic=2")
	case 38:
		return d.of(d.host("h1"), d.host("h2"), d.queue("all.q"), d.queue("low.q"), d.pe())
	case 39:
		return "alter " + d.id() + " " + d.of("l=mem=300M", "l=gpu=1", "l=h_rt=50", "pe=mpi:1-2", "P=p1")
	case 40:
		return d.of("requeue ", "requeue ", "delete ") + d.task()
	case 41, 42:
		return "after " + d.of("10", "60", "300", "600")
	default:
		return "complex lic INT <= YES " + d.of("JOB", "YES", "HOST") + " 0"
	}
}
