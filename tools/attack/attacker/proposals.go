package attacker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// proposals has a person decide on a text that does not say all.
var proposals = Attack{
	Name: "proposals", Usage: "proposes every pair of changes, and some triples: the text names each of them",
	Roles: AsUser, Local: true, Run: proposePairs,
}

// effect is a change that may be proposed, and the words that its text has.
type effect struct {
	body  gdi.Body
	words []string
}

// effects are changes of each kind that may be proposed: of jobs, of queue instances, of configuration objects of each
// kind.
func (f *Field) effects(own uint32) (all []effect, err error) {
	job, err := f.job("-h", "-N", "proposed", "-l", "h_rt=4711", "true")
	if err != nil {
		return nil, err
	}
	renamed, err := f.job("-h", "-N", "renamed", "true")
	if err != nil {
		return nil, err
	}
	id, jobs := fmt.Sprint(own), func() gdi.Jobs { return gdi.Jobs{Refs: []gdi.JobRef{{ID: own}}} }
	all = []effect{
		{&gdi.Submit{Job: job}, []string{"proposed", "4711"}},
		{&gdi.Alter{Jobs: jobs(), Set: []string{"N"}, Job: renamed}, []string{id, "renamed"}},
		{&gdi.Alter{Jobs: jobs(), HoldAdd: "o"}, []string{id, "hold"}},
		{&gdi.DeleteJobs{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: f.Jobs[0]}}}}, []string{fmt.Sprint(f.Jobs[0])}},
		{&gdi.Control{Action: "suspend", Refs: []string{fmt.Sprint(f.Jobs[1])}}, []string{fmt.Sprint(f.Jobs[1])}},
	}
	for _, host := range f.Hosts {
		for _, action := range []string{"disable", "suspend"} {
			all = append(all, effect{&gdi.Control{Action: action, Queues: true, Refs: []string{"all.q@" + host}},
				[]string{"all.q@" + host}})
		}
	}
	for _, k := range grid.Kinds {
		name := "zz" + strings.ToLower(strings.ReplaceAll(k.Name, "_", ""))
		if k.Kind == grid.KindHGroup {
			name = "@" + name
		}
		if o := grid.Default(k.Kind, name); o != nil && o.Key().Name == name {
			all = append(all, effect{&gdi.Add{Objects: []grid.Object{o}}, []string{name}})
		}
	}
	return append(all, effect{&gdi.Add{Objects: []grid.Object{&grid.User{Name: "zzshares", OTicket: 1000000}}},
		[]string{"zzshares", "1000000"}},
		effect{&gdi.Add{Objects: []grid.Object{&grid.Manager{Name: "zzmanager"}}}, []string{"zzmanager"}}), nil
}

// name returns the effect in words.
func (e effect) name() string {
	if add, ok := e.body.(*gdi.Add); ok {
		return "add " + add.Objects[0].Kind().String()
	}
	if c, ok := e.body.(*gdi.Control); ok {
		return c.Action + " " + strings.Join(c.Refs, " ")
	}
	return e.body.Verb()
}

func proposePairs(ctx context.Context, f *Field) error {
	ids, err := f.holdJobs(ctx, 1)
	if err != nil {
		return err
	}
	defer f.deleteJobs(ids)
	all, err := f.effects(ids[0])
	if err != nil {
		return err
	}
	conn, err := client.ConnectToken(ctx, f.Cell, f.AgentToken)
	if err != nil {
		return err
	}
	defer conn.Close()
	all = append(all, f.modified(ctx, conn)...)
	f.hidden = map[string]bool{}
	var sets [][]effect
	for i := range all {
		sets = append(sets, []effect{all[i]})
		for j := range all {
			if i != j {
				sets = append(sets, []effect{all[i], all[j]}, []effect{all[i], all[f.dice.IntN(len(all))], all[j]})
			}
		}
	}
	f.dice.Shuffle(len(sets), func(i, j int) { sets[i], sets[j] = sets[j], sets[i] })
	for _, set := range sets {
		if ctx.Err() != nil {
			return nil
		}
		if err := f.propose(ctx, conn, set); err != nil {
			return err
		}
	}
	return nil
}

// modified are changes of objects that there are: an attribute of the cluster queue.
func (f *Field) modified(ctx context.Context, c *client.Remote) (all []effect) {
	_, err := c.Get(ctx, gdi.Get{Kinds: []grid.Kind{grid.KindCQueue}}, func(o grid.Object) error {
		if q, ok := o.(*grid.CQueue); ok && q.Name == "all.q" {
			q.Notify.Value = "00:47:12"
			all = append(all, effect{&gdi.Modify{Objects: []grid.Object{q}}, []string{"all.q", "00:47:12"}})
		}
		return nil
	})
	f.count(err)
	return all
}

// propose proposes changes together, compares the text with them, and withdraws the proposal.
func (f *Field) propose(ctx context.Context, conn *client.Remote, set []effect) error {
	var changes [][]byte
	var names []string
	for _, e := range set {
		changes = append(changes, codec.AppendBody(nil, e.body))
		names = append(names, e.name())
	}
	subject := strings.Join(names, " + ")
	if !f.selected(subject) {
		return nil
	}
	number, err := conn.Do(ctx, "quill", &gdi.Propose{Changes: changes, Reason: "x", Agent: "attack"})
	if err != nil || number.Proposal == 0 {
		f.refused()
		return nil // they do not go together
	}
	f.did()
	f.cover(subject)
	text, err := f.textOf(ctx, conn, number.Proposal)
	if err != nil {
		return err
	}
	for i, e := range set {
		lacks := func(word string) bool { return !strings.Contains(text, word) }
		if text != "" && slices.ContainsFunc(e.words, lacks) && !f.hidden[names[i]] {
			f.hidden[names[i]] = true
			f.breach("the text of a proposal of %s does not show %s", subject, names[i])
		}
	}
	_, err = conn.Do(ctx, "quill", &gdi.Decide{Proposal: number.Proposal, Decision: gdi.Withdraw})
	return err
}

// textOf is what a person is shown of a proposal.
func (f *Field) textOf(ctx context.Context, c *client.Remote, number uint32) (text string, err error) {
	_, err = c.Get(ctx, gdi.Get{Kinds: []grid.Kind{grid.KindProposal}, Where: gdi.Where{Keys: []grid.Key{{ID: number}}}},
		func(o grid.Object) error {
			if p, ok := o.(*grid.Proposal); ok && p.ID == number {
				text = p.Text
			}
			return nil
		})
	return text, err
}
