package explain

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched"
)

// Sentence answers why the job waits: Job 17 cannot start on this cell: it asks for 400 slots in PE make, which has 4.
func (a *Explanation) Sentence() string { return a.sentence() + a.apartText() }

func (a *Explanation) sentence() string {
	o := a.First()
	text := o.Text() + "."
	name := fmt.Sprintf("ob %s", grid.Key{ID: a.Job, Sub: a.Task})
	switch o.Kind {
	case Never:
		return "J" + name + " cannot start on this cell: " + text
	case Closed:
		return "J" + name + " can only start where no jobs are taken now: " + text
	case Busy:
		text = "There is no place for j" + name + " now: " + text
		if r := a.Expected; r != nil {
			text += fmt.Sprintf(" It has a reservation from %s on: %s.", clock(r.Start, a.zone), Places(r.Grants))
		}
		return text
	}
	switch o.Code {
	case reason.InError, reason.HeldByUser, reason.HeldByOperator, reason.HeldBySystem, reason.StartTime:
		return "J" + name + " is " + text
	case reason.NextRun:
		return "There is a place for j" + name + " now: " + text
	}
	if strings.HasPrefix(text, "waits ") || strings.HasPrefix(text, "is ") {
		return "J" + name + " " + text
	}
	return "J" + name + " waits: " + text
}

// Text returns what an obstacle is, without a full stop.
func (o *Obstacle) Text() string {
	switch o.Code {
	case reason.InError:
		return "in error: " + o.Offer
	case reason.HeldByUser:
		return "held by its owner (qsub -h, qhold)"
	case reason.HeldByOperator:
		return "held by an operator"
	case reason.HeldBySystem:
		return "held by the system (a manager)" + o.Offer
	case reason.HeldForArray:
		return "waits for tasks of another array (-hold_jid_ad)"
	case reason.Predecessors:
		return "waits for the end of " + jobs(o.Jobs, o.More) + " (-hold_jid)"
	case reason.StartTime:
		return "not to start before " + o.Offer + " (-a)"
	case reason.ARWaits:
		if o.Offer != "" {
			return fmt.Sprintf("waits for its advance reservation %s to begin at %s (-ar)", o.What, o.Offer)
		}
	case reason.TaskLimit:
		return fmt.Sprintf("%d of its tasks run: no more at once (-tc)", o.Slots)
	case reason.ArrayLimit:
		return fmt.Sprintf("%d of its tasks run: no more of an array at once (max_aj_instances)", o.Slots)
	case reason.Reserved:
		held := ""
		if len(o.Lacks) > 0 {
			l := &o.Lacks[0]
			held = fmt.Sprintf(", which holds %s %s under the quota %s", amount(l.LeftText), l.Resource, l.Object)
		}
		if o.What == "" {
			return fmt.Sprintf("waits for the reservation of job %s%s, from %s on: it does not say when it ends (-l h_rt)",
				o.Object, held, o.Offer)
		}
		return fmt.Sprintf("waits for the reservation of job %s%s, from %s on: it would end at %s", o.Object, held,
			o.Offer, o.What)
	case reason.ReservedInAdvance:
		text := o.Reason.String()
		if len(o.Lacks) > 0 {
			text = LackText(o.Lacks[0]) + ", " + text
		}
		return text
	case reason.Turn:
		return fmt.Sprintf("waits for its turn, behind %s", jobs(o.Jobs, o.More))
	case reason.NextRun:
		return "the next scheduling run starts it"
	case reason.UserLimit:
		if o.What != "" {
			return fmt.Sprintf("as many jobs of %s have started as may at once: maxujobs is %d", o.What, o.Slots)
		}
	case reason.PEOffersOnly:
		if o.Kind == Never {
			return fmt.Sprintf("it asks for %s slots in PE %s, which has %d%s", o.What, o.Object, o.Slots, o.Offer)
		}
	}
	switch {
	case o.Kind == Closed && len(o.Where) > 0:
		return strings.Join(o.Where, "; ")
	case (o.Kind == Never || o.Kind == Closed || o.Kind == Busy) && len(o.Lacks) > 0 && o.Code != reason.NotBindable:
		text := LackText(o.Lacks[0])
		if len(o.Jobs) > 0 {
			text += ", held by " + jobs(o.Jobs, o.More)
		}
		return text
	case o.Nowhere():
		return "no queue instance can take it"
	}
	return o.Reason.String()
}

// WaitReasons returns all obstacles in words.
func (a *Explanation) WaitReasons() []gdi.WaitReason {
	out := make([]gdi.WaitReason, len(a.Obstacles))
	for i := range a.Obstacles {
		o := &a.Obstacles[i]
		s := gdi.WaitReason{Code: o.Code.String(), Kind: o.Kind, Slurm: o.Code.Slurm(), Text: o.Text(),
			Jobs: o.Jobs, More: o.More}
		if o.Kind == Own || o.Kind == Never {
			s.Remedy, s.By = o.Remedy()
		}
		out[i] = s
	}
	return out
}

// jobs names jobs: job 3; jobs 3, 4 and 17 more.
func jobs(ids []uint32, more int) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = fmt.Sprint(id)
	}
	switch {
	case more > 0:
		return fmt.Sprintf("jobs %s and %d more", strings.Join(words, ", "), more)
	case len(ids) == 1:
		return "job " + words[0]
	}
	return "jobs " + strings.Join(words, ", ")
}

// clock prints a moment as Grid Engine prints dates.
func clock(t grid.Time, zone *time.Location) string {
	return t.Std().In(zone).Format("01/02/2006 15:04:05.000")
}

// instancesText returns who has which instances of a resource map that is short: 1 of 4 free (GPU3);
// GPU0 GPU1 held by job 17, GPU2 held by job 18.
func instancesText(l sched.Lack) string {
	var free, held, others, out []string
	for _, u := range l.Instances {
		if u.Other && u.Health == nil && u.Free > 0 {
			others = append(others, u.ID)
		}
		for n := 0; n < u.Free && u.Health == nil && !u.Other; n++ {
			free = append(free, u.ID)
		}
		if u.Health != nil {
			word := " in error"
			if u.Health.Disabled {
				word = " disabled"
			}
			if u.Health.Message != "" && !u.Health.Disabled {
				word += " (" + u.Health.Message + ")"
			}
			out = append(out, u.ID+word)
		}
	}
	var holders []string
	has := map[string][]string{} // ids, by holders
	for _, u := range l.Instances {
		if len(u.Jobs) == 0 {
			continue
		}
		by := jobs(u.Jobs, 0)
		if has[by] == nil {
			holders = append(holders, by)
		}
		has[by] = append(has[by], u.ID)
	}
	for _, by := range holders {
		held = append(held, strings.Join(has[by], " ")+" held by "+by)
	}
	text := fmt.Sprintf("%s of %s free", amount(l.LeftText), amount(l.OfText))
	if len(free) > 0 {
		text += " (" + strings.Join(free, " ") + ")"
	}
	if len(others) > 0 {
		out = append(out, strings.Join(others, " ")+" without "+l.With)
	}
	if held = append(held, out...); len(held) > 0 {
		text += "; " + strings.Join(held, ", ")
	}
	return text
}

// LackText returns what is short, and by how much.
func LackText(l sched.Lack) string {
	if l.Level == 0 {
		return l.Reason.String()
	}
	if l.Instances != nil && l.Of >= l.Asked {
		where := "on " + l.Object
		if l.Level == 'G' {
			where = "cluster-wide"
		}
		asked := amount(l.AskedText) + " asked"
		if l.With != "" {
			asked += " with " + l.With
		}
		return fmt.Sprintf("%s %s: %s, %s", l.Resource, where, asked, instancesText(l))
	}
	where := map[byte]string{'G': "cluster-wide", 'H': "at host " + l.Object, 'Q': "in " + l.Object,
		'L': "under the quota " + l.Object}[l.Level]
	switch {
	case l.Of > 0 && l.Of < l.Asked:
		return fmt.Sprintf("%s %s: %s asked, there is no more than %s", l.Resource, where, amount(l.AskedText),
			amount(l.OfText))
	case l.OfText != "":
		return fmt.Sprintf("%s %s: %s asked, %s of %s left", l.Resource, where, amount(l.AskedText), amount(l.LeftText),
			amount(l.OfText))
	}
	return fmt.Sprintf("%s %s: %s asked, it is %s", l.Resource, where, amount(l.AskedText), amount(l.LeftText))
}

// amount is a number without zeros at its end.
func amount(text string) string {
	if !strings.Contains(text, ".") || strings.Trim(text, "-.0123456789") != "" {
		return text
	}
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// Places returns queue instances, with their slots where they are several.
func Places(g []grid.Grant) string {
	words := make([]string, len(g))
	for i, e := range g {
		words[i] = e.Instance()
		if len(g) > 1 || e.Slots > 1 {
			words[i] += "=" + strconv.FormatUint(uint64(e.Slots), 10)
		}
	}
	return strings.Join(words, ",")
}
