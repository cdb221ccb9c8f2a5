package attacker

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// Budgets of the attacks on fields. What is refused costs nothing more; what is accepted is
// sent again, until the cell has as much of it as this.
const (
	textFirst   = 512 << 10 // bytes of a long text, to see whether it is accepted
	textMax     = 3 << 20   // bytes of a long text: below the longest request
	fieldBudget = 400 << 20 // accepted bytes of one field
	runBudget   = 1 << 30   // accepted bytes of one attack: the cell's log is not what is attacked
	firstJobs   = 20        // jobs of the attacker that are changed, to see what is accepted
	ownJobs     = 120       // ... and once something is
	elements    = 20_000    // of a long list
	heldMax     = 30_000    // jobs that a flood submits
	floodConns  = 100
	waitMax     = 20 * time.Millisecond  // for what is answered when a job has ended
	floodTime   = 400 * time.Millisecond // of one request
)

// field is one field of one request, and what is needed to send it.
type target struct {
	*sample
	requestField
	own []uint32 // jobs of the attacker
}

// selected reports whether a subject is attacked: --subject names a part of it.
func (f *Field) selected(subject string) bool {
	return f.Subject == "" || strings.Contains(subject, f.Subject)
}

// holdJobs submits jobs that the attacker may change.
func (f *Field) holdJobs(ctx context.Context, n int) (ids []uint32, err error) {
	way, err := f.asker()
	if err != nil {
		return nil, err
	}
	defer way.Close()
	job, err := f.job("-h", "-N", "own", "-t", "1-3", "true")
	if err != nil {
		return nil, err
	}
	for range n {
		reply, err := f.reply(ctx, way, &gdi.Submit{Job: job})
		if err != nil {
			return ids, err
		}
		if reply.Job != 0 {
			ids = append(ids, reply.Job)
		}
	}
	if len(ids) == 0 {
		return nil, errors.New("no job was accepted")
	}
	return ids, nil
}

// eachField calls attack with the fields of all requests that a class is for, in an order
// of its own.
func (f *Field) eachField(
	ctx context.Context, ids []uint32, suits func(requestField) bool, attack func(way asker, t target) error,
) error {
	all, err := f.samples(ids)
	if err != nil {
		return err
	}
	var targets []target
	for _, s := range all {
		for _, p := range s.places {
			if suits(p) && f.selected(p.path) {
				targets = append(targets, target{s, p, ids})
			}
		}
	}
	f.dice.Shuffle(len(targets), func(i, j int) { targets[i], targets[j] = targets[j], targets[i] })
	f.eachTarget(ctx, targets, attack)
	return nil
}

// fieldConns are the connections on which fields are attacked.
const fieldConns = 4

// eachTarget calls attack with each target. An error means that the connection is lost.
func (f *Field) eachTarget(ctx context.Context, targets []target, attack func(way asker, t target) error) {
	var next atomic.Int64
	Workers(fieldConns, func(int) error {
		var way asker
		defer func() {
			if way != nil {
				way.Close()
			}
		}()
		for ctx.Err() == nil {
			if way == nil {
				var err error
				if way, err = f.asker(); err != nil {
					f.refused()
					f.pause(ctx, 50*time.Millisecond)
					way = nil
					continue
				}
			}
			i := int(next.Add(1)) - 1
			if i >= len(targets) {
				return nil
			}
			if attack(way, targets[i]) != nil {
				way.Close()
				way = nil
			}
		}
		return nil
	})
}

// aim has a request change another of the attacker's jobs, and gives it a number of its own.
func (t *target) aim(r *gdi.Request, i int) {
	if !strings.HasSuffix(t.path, "request.ID") {
		r.ID = rand.Text()
	} else {
		r.ID += rand.Text()
	}
	if a, ok := r.Body.(*gdi.Alter); ok && len(a.Jobs.Refs) > 0 && a.Jobs.Refs[0].ID == t.own[0] {
		a.Jobs.Refs[0].ID = t.own[i%len(t.own)]
	}
}

// ask sends a request; ok is whether it was carried out.
func (f *Field) ask(ctx context.Context, way asker, r gdi.Request) (reply gdi.Reply, ok bool, err error) {
	most := CommandMax
	if _, waits := r.Body.(*gdi.Wait); waits {
		most = waitMax
	}
	asking, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	answer, err := way.Ask(asking, r.Body.Verb(), codec.AppendRequest(nil, r))
	if most == waitMax && errors.Is(err, context.DeadlineExceeded) { // it waits, and we do not
		f.did()
		return reply, true, nil
	}
	if err != nil {
		f.refused()
		return reply, false, err
	}
	f.search("answer to "+r.Body.Verb(), answer)
	if reply, err = codec.DecodeReply(answer); err != nil || !reply.OK() {
		f.refused()
		return reply, false, nil
	}
	f.did()
	return reply, true, nil
}

// denied reports whether a request was refused because of who sent it: what else is in it was not looked at.
func denied(r gdi.Reply) bool {
	return len(r.Answers) > 0 && (r.Answers[0].Status == gdi.StatusDenied || r.Answers[0].Status == gdi.StatusNotOwner)
}

// deleteJobs deletes jobs of the attacker.
func (f *Field) deleteJobs(ids []uint32) {
	if len(ids) == 0 {
		return
	}
	way, err := f.asker()
	if err != nil {
		return
	}
	defer way.Close()
	var refs []gdi.JobRef
	for _, id := range ids {
		refs = append(refs, gdi.JobRef{ID: id})
	}
	f.reply(context.Background(), way, &gdi.DeleteJobs{Jobs: gdi.Jobs{Refs: refs}})
}

// grow sends requests that change makes as often as they are accepted and stored, as far as the budget goes, and
// deletes what they have made. kept is whether one was stored.
func (f *Field) grow(
	ctx context.Context, way asker, t target, change func() (gdi.Request, bool), most int,
) (kept bool, err error) {
	var made []uint32
	defer func() { f.deleteJobs(made) }()
	for i, sent := 0, 0; i < most && sent < fieldBudget && ctx.Err() == nil; i++ {
		r, ok := change()
		if !ok {
			break
		}
		t.aim(&r, i)
		size := len(codec.AppendRequest(nil, r))
		sent += size
		reply, ok, err := f.ask(ctx, way, r)
		if err != nil {
			return kept, err
		}
		f.cover(t.path)
		if reply.Job != 0 {
			made = append(made, reply.Job)
		}
		if !ok || reply.Seq == 0 || f.accepted.Add(int64(size)) > runBudget {
			break
		}
		kept = true
	}
	return kept, nil
}

// growEach sends each request once, and those that were stored as often as the budget allows.
func (f *Field) growEach(
	ctx context.Context, suits func(requestField) bool, change func(t target, first bool) (gdi.Request, bool),
) error {
	ids, err := f.holdJobs(ctx, firstJobs)
	if err != nil {
		return err
	}
	defer func() { f.deleteJobs(ids) }()
	var stored []target
	var mu sync.Mutex
	try := func(most int) func(way asker, t target) error {
		return func(way asker, t target) error {
			kept, err := f.grow(ctx, way, t, func() (gdi.Request, bool) { return change(t, most == 1) }, most)
			if kept {
				mu.Lock()
				defer mu.Unlock()
				stored = append(stored, t)
			}
			return err
		}
	}
	if err := f.eachField(ctx, ids, suits, try(1)); err != nil {
		return err
	}
	if len(stored) == 0 {
		return nil
	}
	more, err := f.holdJobs(ctx, ownJobs-firstJobs)
	if ids = append(ids, more...); err != nil {
		return err
	}
	for i := range stored {
		stored[i].own = ids
	}
	f.eachTarget(ctx, slices.Repeat(stored, 1+(fieldConns-1)/len(stored)), try(1000)) // all connections have one
	return nil
}

func requestsLong(ctx context.Context, f *Field) error {
	return f.growEach(ctx, func(p requestField) bool { return p.kind == reflect.String || p.bytes },
		func(t target, first bool) (gdi.Request, bool) {
			size := textMax
			if first {
				size = textFirst
			}
			r, err := t.changed(t.requestField, lengthen(size))
			return r, err == nil
		})
}

func requestsMany(ctx context.Context, f *Field) error {
	return f.growEach(ctx, func(p requestField) bool { return p.kind == reflect.Slice && !p.bytes },
		func(t target, _ bool) (gdi.Request, bool) {
			for n := elements; n > 100; n /= 2 { // the longest that is read
				if r, err := t.changed(t.requestField, multiply(n)); err == nil && len(codec.AppendRequest(nil, r)) < textMax {
					return r, true
				}
			}
			return gdi.Request{}, false
		})
}

// requestID is the number under which quill web sends a user's request with an Idempotency-Key: who knows the key knows
// the number.
func requestID(user, key string) string {
	digest := sha256.Sum256([]byte(user + "\x00" + key))
	return hex.EncodeToString(digest[:20])
}

// foreignTexts are names of others, and what programs may take for more than a name.
func (f *Field) foreignTexts() []string {
	return append([]string{f.Honest, "root", "*", requestID(f.Honest, HonestKey(int(f.dice.Int32N(1000)))), "-oQ/tmp@here",
		"-X", "$(id)", "`id`", "|id", "../../..", "qrdel", fmt.Sprint(f.Jobs[0])}, f.Closed...)
}

func requestsForeign(ctx context.Context, f *Field) error {
	if err := f.takeRequestNumbers(ctx); err != nil {
		return err
	}
	ids, err := f.holdJobs(ctx, firstJobs)
	if err != nil {
		return err
	}
	defer f.deleteJobs(ids)
	var mu sync.Mutex
	number := func(p requestField) bool {
		return p.kind >= reflect.Int && p.kind <= reflect.Uint64
	}
	return f.eachField(ctx, ids, func(p requestField) bool { return p.kind == reflect.String || number(p) },
		func(way asker, t target) error {
			mu.Lock()
			texts := f.foreignTexts()
			mu.Unlock()
			var changes []func(reflect.Value)
			for _, text := range texts {
				changes = append(changes, func(v reflect.Value) { v.SetString(text) })
			}
			if number(t.requestField) {
				changes = nil
				for _, n := range []uint32{f.Jobs[0], f.Jobs[len(f.Jobs)-1], 0, 1<<31 - 1} {
					changes = append(changes, func(v reflect.Value) {
						if v.CanUint() {
							v.SetUint(uint64(n))
						} else {
							v.SetInt(int64(n))
						}
					})
				}
			}
			for i, change := range changes {
				r, err := t.changed(t.requestField, change)
				if err != nil {
					return nil
				}
				if !strings.HasSuffix(t.path, "request.ID") {
					r.ID = rand.Text()
				}
				reply, _, err := f.ask(ctx, way, r)
				if err != nil {
					return err
				}
				if i == 0 {
					f.cover(t.path)
				}
				if reply.Job != 0 {
					f.deleteJobs([]uint32{reply.Job})
				}
			}
			return nil
		})
}

// HonestKey is the Idempotency-Key of the honest user's n-th submission over HTTP: as those of scripts it can be
// guessed.
func HonestKey(n int) string { return fmt.Sprintf("nightly-%d", n) }

// numbersTaken are the numbers of the honest user's next requests, and connections on which they are taken.
const (
	numbersTaken = 200
	takers       = 8
)

// takeRequestNumbers makes jobs under the numbers of requests that the honest user will send.
func (f *Field) takeRequestNumbers(ctx context.Context) error {
	if !f.selected("submit.request.ID") || f.covers("submit.request.ID of another user") {
		return nil
	}
	job, err := f.job("-h", "-N", "number", "true")
	if err != nil {
		return err
	}
	return Workers(takers, func(w int) error {
		way, err := f.asker()
		if err != nil {
			return err
		}
		defer way.Close()
		var made []uint32
		for n := w; n < numbersTaken && ctx.Err() == nil; n += takers {
			reply, _,
				err := f.ask(ctx, way, gdi.Request{ID: requestID(f.Honest, HonestKey(n)), Command: "qsub",
				Body: &gdi.Submit{Job: job}})
			if err != nil {
				break
			}
			if reply.Job != 0 {
				made = append(made, reply.Job)
			}
		}
		f.deleteJobs(made)
		return nil
	})
}

// Forged begins a line that no listing has.
const Forged = "FORGED "

// controls are texts that make a line of their own, or change one, in what prints them as they are: as few as are
// accepted are sent.
var controls = []string{
	"x\n" + Forged + "%[1]s\r" + Forged + "%[1]s\x1b[2K\x1b[1G" + Forged + "%[1]s\nx", "/x\n" + Forged + "%[1]s\nx",
	"x\n" + Forged + "%[1]s",
	"x\r" + Forged + "%[1]s", "x\x1b[2K\x1b[1G" + Forged + "%[1]s",
}

// requestsMultiline leaves the jobs that it makes: the director lists them.
func requestsMultiline(ctx context.Context, f *Field) error {
	ids, err := f.holdJobs(ctx, firstJobs)
	if err != nil {
		return err
	}
	var made []uint32
	var mu sync.Mutex
	var next atomic.Int64 // each change is of another job
	err = f.eachField(ctx, ids, func(p requestField) bool { return p.kind == reflect.String },
		func(way asker, t target) error {
			job := int(next.Add(1))
			for i, control := range controls {
				r, err := t.changed(t.requestField, func(v reflect.Value) { v.SetString(fmt.Sprintf(control, t.path)) })
				if err != nil {
					return nil
				}
				t.aim(&r, job)
				reply, ok, err := f.ask(ctx, way, r)
				if err != nil {
					return err
				}
				if i == 0 {
					f.cover(t.path)
				}
				if ok {
					mu.Lock()
					made = append(made, cmp.Or(reply.Job, ids[job%len(ids)]))
					mu.Unlock()
				}
				if ok || denied(reply) {
					break
				}
			}
			return nil
		})
	f.say(made)
	return err
}

// requestsRepeated sends each request again and again: under one number, and under others.
func requestsRepeated(ctx context.Context, f *Field) error {
	return f.eachVerb(ctx, func(ctx context.Context, s *sample) error {
		same := rand.Text()
		return Workers(floodConns, func(w int) error {
			way, err := f.asker()
			if err != nil {
				f.refused()
				f.pause(ctx, 50*time.Millisecond)
				return nil
			}
			defer way.Close()
			r, err := copyOf(s.request)
			for i := 0; err == nil && ctx.Err() == nil; i++ {
				if r.ID = same; (w+i)%2 == 0 {
					r.ID = rand.Text()
				}
				if gdi.Makes(r.Body) && f.done.Load() > heldMax {
					r.Body = &gdi.Get{Kinds: []grid.Kind{grid.KindJob}, Where: gdi.Where{Owners: grid.Names{f.Name}, Brief: true}}
				}
				_, _, err = f.ask(ctx, way, r)
			}
			return nil
		})
	})
}

// eachVerb calls attack with each request in turn, for some time, until ctx ends.
func (f *Field) eachVerb(ctx context.Context, attack func(context.Context, *sample) error) error {
	ids, err := f.holdJobs(ctx, firstJobs)
	if err != nil {
		return err
	}
	defer f.deleteJobs(ids)
	all, err := f.samples(ids)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(s *sample) bool { return !f.selected(s.request.Body.Verb()) })
	for _, i := range f.dice.Perm(len(all)) {
		if ctx.Err() != nil {
			return nil
		}
		some, cancel := context.WithTimeout(ctx, floodTime)
		err := attack(some, all[i])
		cancel()
		if err != nil {
			return err
		}
		f.cover(all[i].request.Body.Verb())
	}
	return nil
}

// requestsAbandoned asks and does not wait for the answer: on connections that stay, and on those that are closed.
func requestsAbandoned(ctx context.Context, f *Field) error {
	return f.eachVerb(ctx, func(ctx context.Context, s *sample) error {
		return Workers(floodConns, func(w int) error {
			for ctx.Err() == nil {
				way, err := f.asker()
				if err != nil {
					f.refused()
					f.pause(ctx, 50*time.Millisecond)
					continue
				}
				var waiting sync.WaitGroup
				for range 1 + w {
					waiting.Go(func() {
						r, err := copyOf(s.request)
						if err != nil {
							return
						}
						r.ID = rand.Text()
						asking, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
						defer cancel()
						_, err = way.Ask(asking, r.Body.Verb(), codec.AppendRequest(nil, r))
						f.count(err)
					})
				}
				if w%2 == 0 {
					way.Close()
				}
				waiting.Wait()
				way.Close()
			}
			return nil
		})
	})
}
