package sched_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
)

// The commands of transcripts that look at more than one place of one job.

func init() {
	for name, show := range map[string]func(*shown, []string) []string{
		"decide": (*shown).decideInTurn, "plan": (*shown).plan, "claims": (*shown).claims,
		"verify": (*shown).verify, "never": (*shown).never,
		"grant": (*shown).grant, "resources": (*shown).resources, "meets": (*shown).meets, "reported": (*shown).reported,
		"urgency": (*shown).urgency, "covered": (*shown).covered, "choices": (*shown).choices, "devices": (*shown).devices,
		"allocations": (*shown).allocations, "across": (*shown).across, "accounted": (*shown).accounted,
		"tasks":      (*shown).tasks,
		"rerunnable": (*shown).rerunnable, "usable": (*shown).usable, "overdrawn": (*shown).overdrawn, "grow": (*shown).grow,
		"at": (*shown).at, "infeasible": (*shown).infeasible, "started": (*shown).started, "chosen": (*shown).chosen,
		"after": (*shown).after,
	} {
		commands[name] = show
	}
}

// after shows another command on a copy on which the published reservations are planned, but for that of a task.
func (s *shown) after(words []string) []string {
	except := grid.Key{}
	except.ID, except.Sub = taskOf(words[0])
	run := s.Cluster.Copy(s.State.Copy())
	run.Begin(s.Now)
	run.PlanReservations(except)
	return commands[words[1]](&shown{s.cell, run}, words[2:])
}

// seconds is a time since the beginning.
func seconds(t grid.Time) string {
	if t >= grid.Never {
		return "for ever"
	}
	return fmt.Sprintf("%g s", t.Sub(algorithmtest.Begin))
}

// decideInTurn decides on jobs one after the other as an algorithm does: start, or else reserve for those with -R y. A
// word that is a command shows what the run has then. The decisions are made on a copy, and again on a lent Cluster;
// the original must stay as it is.
func (s *shown) decideInTurn(words []string) []string {
	ids := words[:slices.IndexFunc(append(words, "z"), func(w string) bool { return w[0] > '9' })]
	before := s.Cluster.Dump()
	out := s.decide(s.run, ids)
	lent := s.Cluster.Lend()
	lent.Begin(s.Now)
	if again := s.decide(lent, ids); !slices.Equal(again, out) {
		out = append(out, "but lent: "+strings.Join(again, ", "))
	}
	if after := s.Cluster.Dump(); after != before {
		out = append(out, "the original has changed:\n"+before+after)
	}
	for _, w := range words[len(ids):] {
		out = append(out, commands[w](s, nil)...)
	}
	return out
}

func (s *shown) decide(run *sched.Cluster, ids []string) (out []string) {
	reserved := 0
	cursors := map[string]*sched.Cursor{}
	for _, id := range ids {
		j := s.State.Job(number(id))
		n, category := run.Need(j), run.Category(j)
		if cursors[category] == nil {
			cursors[category] = &sched.Cursor{}
		}
		p, why := run.FindPlacement(n, cursors[category])
		if why.Fits() {
			run.Book(n, j, p)
			out = append(out, id+" starts: "+placeText(p, why))
			continue
		}
		if !j.Reserve || reserved >= run.MaxReservation() {
			out = append(out, id+" waits: "+why.String())
			continue
		}
		p, at, why := run.Earliest(n, s.Now)
		if why.Fits() {
			reserved++
			run.Reserve(n, p, at)
			out = append(out, id+" reserves from "+seconds(at)+": "+placeText(p, why))
			continue
		}
		out = append(out, id+" never: "+why.String())
	}
	return out
}

// plan is what is taken of each limited resource over time.
func (s *shown) plan([]string) (out []string) {
	s.run.EachDiagram(func(level byte, object, resource string, capacity float64, steps []sched.Step) {
		line := fmt.Sprintf("%c %s %s", level, object, resource)
		for i, step := range steps {
			switch {
			case i+1 < len(steps):
				line += fmt.Sprintf(" %s until %s,", s.amount(resource, step.Amount), seconds(steps[i+1].At))
			case step.At < grid.Never:
				line += " then " + s.amount(resource, step.Amount)
			}
		}
		line = strings.ReplaceAll(strings.TrimSuffix(line, ","), "until for ever", "for ever")
		if capacity < grid.Infinity {
			line += " of " + s.amount(resource, capacity)
		}
		out = append(out, line)
	})
	return out
}

func (s *shown) claims([]string) (out []string) {
	for _, k := range s.run.Claims() {
		line := fmt.Sprintf("%d of %s@%s", k.Units, k.Resource, k.Host)
		if k.With != "" {
			line += " with " + k.With
		}
		line += fmt.Sprintf(" from %s to %s", seconds(k.From), seconds(k.To))
		if k.AR != 0 {
			line += fmt.Sprintf(", advance reservation %d", k.AR)
		}
		if k.Booked {
			line += ", booked"
		}
		out = append(out, line)
	}
	return out
}

// indented are lines below a title, or an answer beside it.
func indented(title string, lines []string, none string) string {
	if len(lines) == 0 {
		return title + ": " + none
	}
	return title + ":\n  " + strings.Join(lines, "\n  ")
}

func (s *shown) verify(words []string) (out []string) {
	for _, id := range words {
		out = append(out, indented(id, reason.Texts(s.Cluster.Unplaceable(s.State.Job(number(id)), s.Now)), "it can start"))
	}
	return out
}

func (s *shown) never(words []string) (out []string) {
	for _, id := range words {
		why := sched.Emptied(sched.NewCluster(s.State)).Unplaceable(s.State.Job(number(id)), s.Now)
		out = append(out, indented(id, reason.Texts(why), "it fits the empty cluster"))
	}
	return out
}

// grant OWNER from= to= [l= q= masterq= pe=PE:RANGE acl= ckpt= now=y]
func (s *shown) grant(words []string) []string {
	plain, values := split(words)
	get := func(name string) string { v, _ := values.Get(name); return v }
	a := &grid.AR{ID: 99, Owner: plain[0], State: grid.ARWaiting, Ckpt: get("ckpt"), Interactive: get("now") == "y"}
	a.Start = algorithmtest.Begin.Add(float64(number(get("from"))))
	a.End = algorithmtest.Begin.Add(float64(number(get("to"))))
	for _, list := range []struct {
		name string
		to   *grid.Names
	}{{"q", &a.Queues}, {"masterq", &a.MasterQueues}, {"acl", &a.ACL}} {
		if v := get(list.name); v != "" {
			*list.to = strings.Split(v, ",")
		}
	}
	side := s.branch()
	line := "submit 999 owner=" + a.Owner
	for _, w := range words {
		if strings.HasPrefix(w, "l=") || strings.HasPrefix(w, "pe=") {
			line += " " + w
		}
	}
	if err := side.do(line); err != nil {
		return []string{err.Error()}
	}
	j := side.State.Job(999)
	a.Hard, a.PE, a.PERange = j.Hard, j.PE, j.PERange
	p, why := s.run.Grant(a, s.Now, time.UTC)
	if len(why) > 0 {
		return reason.Texts(why)
	}
	return []string{placeText(p, reason.Reason{})}
}

// resources QUEUE@HOST|HOST|global [total] [NAME ...]
func (s *shown) resources(words []string) (out []string) {
	total := slices.Contains(words, "total")
	for _, r := range s.resourcesOf(words[0], total) {
		text := r.Text
		switch a := s.run.Complex(); {
		case r.Instances != nil:
			text = fmt.Sprint(r.Instances)
		case r.Text == "":
			text = a.List[a.Find(r.Attribute.Name)].Format(r.Number)
		}
		if names := words[1:]; len(names) == 0 || total && len(names) == 1 || slices.Contains(names, r.Attribute.Name) {
			out = append(out, fmt.Sprintf("%c%c:%s=%s", r.Level, r.Source, r.Attribute.Name, text))
		}
	}
	return out
}

func (s *shown) resourcesOf(place string, total bool) []sched.Resource {
	queue, host, isInstance := strings.Cut(place, "@")
	if !isInstance {
		return s.run.HostResources(queue, total)
	}
	return s.run.Resources(s.run.InstanceOf(grid.Grant{Queue: queue, Host: host}), total)
}

// meets QUEUE@HOST|HOST NAME=VALUE ...: one answer for each request.
func (s *shown) meets(words []string) (out []string) {
	there := s.resourcesOf(words[0], false)
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		out = append(out, fmt.Sprintf("%s: %v", w, s.run.Meets(there, grid.Requests{{Name: name, Value: value}})))
	}
	return out
}

func (s *shown) reported(words []string) (out []string) {
	for _, name := range words[1:] {
		raw, ok := s.run.Reported(words[0], name, false)
		scaled, _ := s.run.Reported(words[0], name, true)
		text, reported := s.run.ReportedText(words[0], name)
		switch {
		case !ok && reported:
			out = append(out, name+": text "+text)
		case !ok:
			out = append(out, name+": not known")
		case !reported:
			out = append(out, fmt.Sprintf("%s: %g, for jobs %g", name, raw, scaled))
		default:
			out = append(out, fmt.Sprintf("%s: %g, for jobs %g, as reported %s", name, raw, scaled, text))
		}
	}
	return out
}

func (s *shown) urgency(words []string) []string {
	return s.each(words, func(j *grid.Job) string {
		return fmt.Sprintf("%g for %d slots", s.run.ResourceUrgency(j), s.run.AssumedSlots(j))
	})
}

// covered searches for jobs in turn; one that is not smaller than one that has no place is not searched for.
func (s *shown) covered(words []string) []string {
	var failed sched.FailedSizes
	failed.Reset()
	return s.each(words, func(j *grid.Job) string {
		size := s.run.JobSize(j)
		p, why := s.run.FindPlacement(s.run.Need(j), &sched.Cursor{})
		switch covered := failed.Covers(size); {
		case covered && why.Fits():
			return "wrong: it has a place, " + placeText(p, why)
		case covered:
			return "no search is needed"
		case why.Fits():
			return placeText(p, why)
		}
		failed.Add(size)
		return "searched for in vain"
	})
}

// choices shows what a started task got and what else it could have got.
func (s *shown) choices(words []string) (out []string) {
	for _, w := range words {
		job, task := taskOf(w)
		t := s.State.Task(job, task)
		side := s.branch()
		side.Apply(events.Del(grid.KindJATask, t.Key()))
		for _, k := range side.Cluster.Choices(s.State.Job(job), t) {
			what := cmp.Or(k.Resource, "cores")
			var lines []string
			lines = append(lines, lookText("taken", k.Taken))
			for _, l := range k.Others {
				lines = append(lines, lookText("not", l))
			}
			if len(k.Free) > 0 {
				lines = append(lines, "free "+strings.Join(k.Free, " "))
			}
			if k.Unit != "" {
				lines = append(lines, fmt.Sprintf("%d of %d units %s", k.Units, k.Left, k.Unit))
			}
			out = append(out, indented(w+" "+what+" on "+k.Host, lines, ""))
		}
	}
	return out
}

func lookText(what string, l sched.Look) string {
	for _, text := range []string{strings.Join(l.IDs, " "), l.Cores} {
		if text != "" {
			what += " " + text
		}
	}
	if l.Distance >= 0 && l.IDs != nil {
		what += fmt.Sprintf(", distance %d", l.Distance)
	}
	return what
}

// devices HOST [ID.TASK]: the device files of a host, and which of them a task may use.
func (s *shown) devices(words []string) (out []string) {
	var maps []grid.MapGrant
	if len(words) > 1 {
		job, task := taskOf(words[1])
		maps = s.State.Task(job, task).Maps
	}
	for _, d := range s.run.Devices(words[0], maps) {
		if d.Access == 0 {
			out = append(out, d.Path+" closed")
		} else {
			out = append(out, fmt.Sprintf("%s %s for %s", d.Path, d.Access, d.Resource))
		}
	}
	return out
}

// allocations shows what each job would hold where it is placed.
func (s *shown) allocations(words []string) (out []string) {
	for _, id := range words {
		j := s.State.Job(number(id))
		p, why := s.run.FindPlacement(s.run.Need(j), &sched.Cursor{})
		if !why.Fits() {
			out = append(out, id+": "+why.String())
			continue
		}
		for _, a := range s.run.Allocations(j, p.Grants, p.PE) {
			line := fmt.Sprintf("%s %c %s %s=%s", id, a.Level, a.Object, a.Resource, s.amount(a.Resource, a.Amount))
			if a.Capacity > 0 {
				line += fmt.Sprintf(" beside %s of %s", s.amount(a.Resource, a.Used), s.amount(a.Resource, a.Capacity))
			}
			out = append(out, line)
		}
		for _, h := range s.State.ExecHosts() {
			if values := s.run.Taken(j, p.Grants, h.Name); len(values) > 0 {
				out = append(out, id+" on "+h.Name+": "+strings.TrimSpace(fmt.Sprint(values)))
			}
		}
	}
	return out
}

// across ID SLOTS [most=HOSTS]: so many slots are taken from hosts in the order of their names, as many as each has.
func (s *shown) across(words []string) []string {
	plain, values := split(words)
	most := 100
	if v, ok := values.Get("most"); ok {
		most = int(number(v))
	}
	var seen []int
	n, slots := s.run.Need(s.State.Job(number(plain[0]))), int(number(plain[1]))
	p, first, why := s.run.Across(n, slots, s.run.OpenHosts(), most, func(rooms []int) (parts []sched.Part) {
		seen = slices.Clone(rooms)
		left := slots
		for host, room := range rooms {
			if n := min(room, left); n > 0 {
				parts, left = append(parts, sched.Part{Host: host, Slots: n}), left-n
			}
		}
		if left > 0 {
			return nil
		}
		return parts
	})
	return []string{fmt.Sprintf("rooms %v, from host %d on: %s", seen, first, placeText(p, why))}
}

func (s *shown) accounted(words []string) []string {
	return s.each(words, func(j *grid.Job) string { return s.run.AccountedCategory(j) })
}

// tasks lists the pending tasks of a job that have no hold, in the order in which they are started, and how many may
// run at once.
func (s *shown) tasks(words []string) []string {
	return s.each(words, func(j *grid.Job) string {
		var ids []string
		for id := sched.NextTask(j, 0); id != 0 && len(ids) < 20; id = sched.NextTask(j, id) {
			ids = append(ids, fmt.Sprint(id))
		}
		text := cmp.Or(strings.Join(ids, " "), "none")
		if most := s.run.TasksAtOnce(j); most > 0 {
			text += fmt.Sprintf("; at most %d at once", most)
		}
		return text
	})
}

func (s *shown) rerunnable(words []string) (out []string) {
	for _, w := range words {
		job, task := taskOf(w)
		out = append(out, fmt.Sprintf("%s: %v", w, s.run.Rerunnable(s.State.Job(job), s.State.Task(job, task))))
	}
	return out
}

func (s *shown) usable([]string) []string {
	slots, free := s.run.Usable()
	var open []string
	for _, i := range s.run.Open() {
		queue, host := s.run.InstanceAt(i)
		open = append(open, queue+"@"+host)
	}
	line := fmt.Sprintf("%d slots, %d free", slots, free)
	if len(open) > 0 {
		line += "; open: " + strings.Join(open, " ")
	}
	if s.run.Idle() {
		line += "; no instance can take a job"
	}
	return []string{line}
}

func (s *shown) overdrawn([]string) []string {
	o := s.run.Overdrawn()
	switch {
	case o.Amount == 0:
		return []string{"no"}
	case o.PE != "":
		return []string{fmt.Sprintf("%g slots of PE %s are reserved", o.Amount, o.PE)}
	}
	return []string{fmt.Sprintf("%s of %s at %s is reserved", s.amount(o.Attribute, o.Amount), o.Attribute, o.Object)}
}

// grow ID.TASK NAME=VALUE ...: whether a started task may have more.
func (s *shown) grow(words []string) []string {
	side := s.branch()
	id, task := taskOf(words[0])
	if err := side.do("limits " + strings.Join(words, " ")); err != nil {
		return []string{err.Error()}
	}
	before := s.Cluster.Dump()
	why := s.run.Alter(side.State.Task(id, task))
	out := cmp.Or(why.String(), "yes")
	if s.Cluster.Dump() != before {
		out += ", and the original has changed"
	}
	return []string{out}
}

// at shows for each instance whether it allows a job, and whether the job can start there now.
func (s *shown) at(words []string) (out []string) {
	n := s.run.Need(s.State.Job(number(words[0])))
	s.run.EachInstance(func(i sched.Instance) bool {
		text := "not allowed"
		if _, ok := s.run.FindPlacementAt(n, i.Number); ok {
			text = "now"
		} else if s.run.Allows(n, i.Number) {
			text = "busy"
		}
		out = append(out, fmt.Sprintf("%s@%s: %s", i.Queue.Name, i.Host, text))
		return true
	})
	return out
}

func (s *shown) infeasible(words []string) []string {
	return s.each(words, func(j *grid.Job) string { return fmt.Sprint(s.run.Infeasible(s.run.Need(j))) })
}

func (s *shown) started(words []string) (out []string) {
	for _, w := range words {
		if w[0] > '9' {
			out = append(out, fmt.Sprintf("%s: %d tasks", w, s.run.StartedOf(w)))
		} else {
			out = append(out, fmt.Sprintf("%s: %d tasks", w, s.run.Started(number(w))))
		}
	}
	return out
}

// chosen shows the instances of resource maps and the cores that a job would get where it is placed.
func (s *shown) chosen(words []string) []string {
	return s.each(words, func(j *grid.Job) string {
		p, why := s.run.FindPlacement(s.run.Need(j), &sched.Cursor{})
		if !why.Fits() {
			return why.String()
		}
		text := placeText(p, why)
		maps, why := s.run.Instances(j, p.Grants)
		cores, few := s.run.Cores(j, p.Grants, maps)
		for _, r := range []reason.Reason{why, few} {
			if !r.Fits() {
				text += ", " + r.String()
			}
		}
		for _, m := range maps {
			text += " " + m.String()
			if len(m.UUIDs) > 0 {
				text += " " + strings.Join(m.UUIDs, " ")
			}
		}
		for _, g := range cores {
			text += " " + g.String()
			if g.Shared {
				text += " shared"
			}
		}
		return text
	})
}
