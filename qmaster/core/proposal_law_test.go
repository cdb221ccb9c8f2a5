package core

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/testkit"
)

// TestProposalsShowEverything proposes requests of every type alone, in pairs and in triples: the text that a person
// approves has a line for everything that is then done, whatever else is proposed with it.
func TestProposalsShowEverything(t *testing.T) {
	alone, pairs := map[string]int{}, map[string]int{}
	cases := testkit.EachSeed(t, 250, func(t *testing.T, seed uint64) {
		p := newProposer(t, seed)
		for range 12 {
			var verbs []string
			var changes [][]byte
			var texts []string
			var touches [][]grid.Touched
			for range 1 + p.Dice.IntN(3) {
				verb := p.verbs[p.Dice.IntN(len(p.verbs))]
				if change, list := p.accepted(verb); change != nil {
					text := changeText(p.core.state, list, p.core.cell.Zone)
					p.everyEvent(list, text)
					alone[verb]++
					verbs, changes, texts, touches = append(verbs, verb), append(changes, change), append(texts, text),
						append(touches, append(named(list), p.copied(change)...))
				}
			}
			list, refused := p.core.try(p.asked, changes)
			if len(changes) < 2 || len(refused) > 0 {
				continue
			}
			text := changeText(p.core.state, list, p.core.cell.Zone)
			p.everyEvent(list, text)
			if apart(touches) {
				for i, own := range texts {
					p.contains(text, own, verbs[i])
				}
				for i := range verbs {
					for j := range i {
						pairs[min(verbs[i], verbs[j])+"+"+max(verbs[i], verbs[j])]++
					}
				}
			}
		}
	})
	if cases < 250 {
		return
	}
	verbs := newProposer(t, 0).verbs
	for i, a := range verbs {
		if alone[a] == 0 {
			t.Errorf("no request of the type %s was accepted", a)
		}
		for _, b := range verbs[:i+1] {
			if pair := min(a, b) + "+" + max(a, b); pairs[pair] == 0 {
				t.Errorf("%s were never proposed together", pair)
			}
		}
	}
}

// proposer makes requests up, of every type that can be proposed.
type proposer struct {
	madeUp
	*harness
	asked  UserRequest
	verbs  []string
	number int
}

func newProposer(t *testing.T, seed uint64) *proposer {
	p := &proposer{madeUp: newMadeUp(rand.New(rand.NewPCG(seed, 45))), harness: &harness{t: t, now: 1_700_000_000_000}}
	p.asked = UserRequest{Ref: 1, Request: gdi.Request{User: "root", Group: "root", Host: "m", Command: "x"}}
	for _, b := range proposableBodies() {
		p.verbs = append(p.verbs, b.Verb())
	}
	slices.Sort(p.verbs)
	p.cell(&datadriven.TestData{CmdArgs: []datadriven.CmdArg{{Key: "hosts", Vals: []string{"h1", "h2"}}}})
	for _, user := range []string{"root", "alice"} {
		for range 3 {
			p.do(user, &gdi.Submit{Job: p.aJob()})
		}
	}
	for range 2 {
		p.do("root", &gdi.Reserve{AR: &grid.AR{Name: "kept", Duration: 600, Queues: grid.Names{"all.q"}}})
	}
	for _, k := range p.kinds() {
		for range 2 {
			p.do("root", &gdi.Add{Objects: []grid.Object{p.object(k)}})
		}
	}
	return p
}

// proposableBodies are empty requests of each type that can be proposed.
func proposableBodies() (out []gdi.Body) {
	for _, b := range gdi.Bodies() {
		if gdi.Proposable(b) {
			out = append(out, b)
		}
	}
	return out
}

func (p *proposer) do(user string, b gdi.Body) {
	p.step(UserRequest{Request: gdi.Request{User: user, Group: "users", Host: "m", Command: "x", Body: b}})
}

func (p *proposer) kinds() (out []grid.Kind) {
	for _, s := range grid.Kinds {
		if s.Configured() {
			out = append(out, s.Kind)
		}
	}
	return out
}

func (p *proposer) pick(n int) int { return p.Dice.IntN(max(n, 1)) }

// object is a new one of a kind.
func (p *proposer) object(k grid.Kind) grid.Object {
	p.number++
	name := fmt.Sprintf("new%d", p.number)
	switch k {
	case grid.KindManager:
		return &grid.Manager{Name: name}
	case grid.KindOperator:
		return &grid.Operator{Name: name}
	case grid.KindAdminHost:
		return &grid.AdminHost{Name: name}
	case grid.KindSubmitHost:
		return &grid.SubmitHost{Name: name}
	case grid.KindHGroup:
		return &grid.HGroup{Name: "@" + name}
	case grid.KindUser:
		return &grid.User{Name: name, FShare: 1_000_000}
	case grid.KindCQueue:
		q := grid.DefaultCQueue(name)
		q.HostList = grid.Names{"@allhosts"}
		return q
	}
	return grid.Default(k, name)
}

// existing is an object of a kind.
func (p *proposer) existing() grid.Object {
	kinds := p.kinds()
	all := p.core.cell.All(kinds[p.pick(len(kinds))])
	if len(all) == 0 {
		return &grid.Manager{Name: "root"}
	}
	return all[p.pick(len(all))]
}

// changed is an existing object, in another way.
func (p *proposer) changed() grid.Object {
	old := reflect.ValueOf(p.existing()).Elem()
	o := reflect.New(old.Type())
	o.Elem().Set(old)
	p.Some(o.Interface())
	if q, is := o.Interface().(*grid.CQueue); is && p.pick(2) == 0 {
		*q = *old.Addr().Interface().(*grid.CQueue)
		q.Notify.Value = grid.TimeText(fmt.Sprintf("00:00:%02d", p.number%60))
	}
	return o.Interface().(grid.Object)
}

func (p *proposer) aJob() *grid.Job {
	p.number++
	return &grid.Job{JobRequest: &grid.JobRequest{}, Name: fmt.Sprintf("job%d", p.number),
		Spec: &grid.JobSpec{Command: "c", Script: fmt.Appendf(nil, "#!/bin/sh\nmark%d\n", p.number)}}
}

// make makes a request of a type up.
func (p *proposer) make(verb string) gdi.Body {
	p.number++
	id := func() uint32 { return uint32(1 + p.pick(6)) }
	jobs := func() gdi.Jobs { return gdi.Jobs{Refs: []gdi.JobRef{{ID: id()}}} }
	switch verb {
	case "submit":
		return &gdi.Submit{Job: p.aJob()}
	case "resubmit":
		return &gdi.Resubmit{Job: id(), Hold: []string{"", "u", "s"}[p.pick(3)]}
	case "alter":
		b := &gdi.Alter{Jobs: jobs(), Job: p.aJob(), Set: []string{[]string{"N", "A", "p", "ac"}[p.pick(4)]}}
		b.Job.Account, b.Job.Priority, b.Job.Spec.Context = b.Job.Name, int16(p.number%500),
			grid.Values{{Name: "K", Text: b.Job.Name}}
		if p.pick(4) == 0 {
			b.Set, b.HoldAdd = nil, "s"
		}
		return b
	case "delete-jobs":
		return &gdi.DeleteJobs{Jobs: jobs(), Force: p.pick(2) == 0}
	case "control":
		b := &gdi.Control{Action: []string{"disable", "suspend"}[p.pick(2)], Queues: true,
			Refs: []string{[]string{"all.q@h1", "all.q@h2"}[p.pick(2)]}}
		if p.pick(3) == 0 {
			b.Queues, b.Refs, b.Action = false, []string{fmt.Sprint(id())}, "suspend"
		}
		return b
	case "reserve":
		return &gdi.Reserve{AR: &grid.AR{Name: fmt.Sprintf("ar%d", p.number), Duration: 100}}
	case "delete-ars":
		return &gdi.DeleteARs{Refs: grid.Names{fmt.Sprint(1 + p.pick(2))}}
	case "add":
		return &gdi.Add{Objects: []grid.Object{p.object(p.kinds()[p.pick(len(p.kinds()))])}}
	case "modify":
		return &gdi.Modify{Objects: []grid.Object{p.changed()}}
	case "change":
		b := &gdi.Change{Add: []grid.Object{p.object(p.kinds()[p.pick(len(p.kinds()))])}}
		if p.pick(2) == 0 {
			b.Modify = []grid.Object{p.changed()}
		}
		return b
	case "delete":
		o := p.existing()
		return &gdi.Delete{Kind: o.Kind(), Keys: []grid.Key{o.Key()}}
	}
	p.t.Fatalf("requests of the type %s can be proposed, and none is made up", verb)
	return nil
}

// accepted makes a request of a type up that can be carried out, and returns what it changes.
func (p *proposer) accepted(verb string) ([]byte, events.List) {
	for range 30 {
		change := codec.AppendBody(nil, p.make(verb))
		if list, refused := p.core.try(p.asked, [][]byte{change}); len(refused) == 0 &&
			changeText(p.core.state, list, p.core.cell.Zone) != "" {
			return change, list
		}
	}
	return nil, events.List{}
}

// everyEvent checks that a text has a line for each event of a list.
func (p *proposer) everyEvent(list events.List, text string) {
	lines := strings.Split(text, "\n")
	for _, e := range list.Events {
		var want string
		switch e.Kind {
		case grid.KindCounter, grid.KindReceipt, grid.KindAccounting:
			continue
		case grid.KindQInstance:
			if queue, host, _ := strings.Cut(e.Key.Name, "@"); e.Op != events.OpMod {
				if !slices.ContainsFunc(lines, func(l string) bool {
					return strings.Contains(l, " queue instances of "+queue+" on ") && slices.Contains(strings.Fields(l), host)
				}) {
					p.t.Errorf("no line about queue instance %s:\n%s", e.Key, text)
				}
				continue
			}
			want = "modify queue instance " + e.Key.Name
		case grid.KindJob, grid.KindAR:
			if e.Op == events.OpAdd {
				want = "add " + noun(e.Kind)
				break
			}
			fallthrough
		default:
			want = map[events.Op]string{events.OpAdd: "add", events.OpMod: "modify", events.OpDel: "remove"}[e.Op] + " " +
				strings.TrimSpace(noun(e.Kind)+" "+e.Key.String())
		}
		i := slices.IndexFunc(lines, func(l string) bool { return l == want || strings.HasPrefix(l, want+" (") })
		if i < 0 {
			p.t.Errorf("no line %q:\n%s", want, text)
			continue
		}
		lines = slices.Delete(slices.Clone(lines), i, i+1) // another event has another line
		if e.Op == events.OpMod && !strings.HasPrefix(lines[i], "  ") {
			p.t.Errorf("nothing says what changes after %q:\n%s", want, text)
		}
		if j, is := e.Object.(*grid.Job); is && e.Op == events.OpAdd {
			p.contains(text, "  | "+strings.ReplaceAll(strings.TrimSuffix(string(j.Spec.Script), "\n"), "\n", "\n  | "),
				"the script")
		}
	}
}

// depends are the beginnings of lines that depend on what else is done: a reservation takes what is there then (and
// keeps its queue instance), and one user is added once.
var depends = []string{"add user root", "  state: ", "  grants: ", "  message: ", "remove queue instances of "}

// contains checks that a text has every line of another.
func (p *proposer) contains(text, own, about string) {
	lines := strings.Split(text, "\n")
	for l := range strings.Lines(own) {
		if l = strings.TrimSuffix(l, "\n"); !slices.Contains(lines, l) && !slices.ContainsFunc(depends, func(d string) bool {
			return strings.HasPrefix(l, d)
		}) {
			p.t.Errorf("%s: the line %q is missing in\n%s", about, l, text)
		}
	}
}

// named are the objects that a list changes, but those that get a number, and queue instances with their queue.
func named(l events.List) (out []grid.Touched) {
	for _, e := range l.Events {
		t := grid.Touched{Of: e.Kind, ID: e.Key.ID, Name: e.Key.Name}
		switch {
		case !isShown(e), e.Op == events.OpAdd && isNumbered(e.Kind):
			continue
		case t.ID != 0 && e.Kind == grid.KindJATask:
			t = grid.Touched{Of: grid.KindJob, ID: t.ID}
		}
		out = append(out, t)
	}
	return out
}

// copied is the job that a request copies, whatever another request makes of it.
func (p *proposer) copied(change []byte) []grid.Touched {
	body, err := codec.DecodeBody(change)
	if err != nil {
		p.t.Fatal(err)
	}
	if b, is := body.(*gdi.Resubmit); is {
		return []grid.Touched{{Of: grid.KindJob, ID: b.Job}}
	}
	return nil
}

// apart reports whether no two lists change the same object.
func apart(lists [][]grid.Touched) bool {
	var seen []grid.Touched
	for _, list := range lists {
		for _, t := range list {
			if slices.Contains(seen, t) {
				return false
			}
		}
		seen = append(seen, list...)
	}
	return true
}
