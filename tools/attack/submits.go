package attack

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// submits is the flood of one user.
var submits = Attack{
	Name: "submits", Usage: "submissions over 200 connections, as fast as they are answered: most held, some short jobs",
	Roles: asUser, Run: submitAll,
}

const (
	floodConns = 200
	heldMax    = 30_000 // jobs, in all: the cell's log is not what is attacked
)

func submitAll(ctx context.Context, f *Field) error {
	held, err := f.job("-h", "-N", "flood", "true")
	if err != nil {
		return err
	}
	short, err := f.job("-N", "short", "true")
	if err != nil {
		return err
	}
	return workers(floodConns, func(w int) error {
		way, err := f.asker()
		if err != nil {
			f.refused()
			f.pause(ctx, 100*time.Millisecond)
			return nil
		}
		defer way.Close()
		for i := w; ctx.Err() == nil; i++ {
			job := held
			if i%1000 == 0 {
				job = short
			}
			if f.done.Load() > heldMax { // from now on what is refused: it is looked at all the same
				job = &grid.Job{JobRequest: &grid.JobRequest{HardQueues: grid.Names{"nowhere"}}, Name: "x", Spec: held.Spec}
			}
			ok, err := f.ask(ctx, way, &gdi.Submit{Job: job})
			if !ok {
				f.refused()
			} else {
				f.did()
			}
			if err != nil {
				return nil
			}
		}
		return nil
	})
}

// ask sends a request and reports whether it was granted.
func (f *Field) ask(ctx context.Context, way asker, b gdi.Body) (ok bool, err error) {
	reply, err := f.reply(ctx, way, b)
	return err == nil && reply.OK(), err
}

func (f *Field) reply(ctx context.Context, way asker, b gdi.Body) (reply gdi.Reply, err error) {
	ctx, cancel := context.WithTimeout(ctx, commandMax)
	defer cancel()
	data := codec.AppendRequest(nil, gdi.Request{ID: rand.Text(), Command: "qsub", Host: f.env.Host, Body: b})
	answer, err := way.Ask(ctx, b.Verb(), data)
	if err != nil {
		return reply, err
	}
	f.search("answer to "+b.Verb(), answer)
	return codec.DecodeReply(answer)
}

// sizes submits jobs of the largest size.
var sizes = Attack{
	Name: "sizes", Usage: "scripts of 4 MB, environments, argument and hold lists as large as they can be sent, on 40 connections",
	Roles: asUser, Run: submitLarge,
}

// sizesMax is how much of that the cell may store: its log is not what is attacked.
const sizesMax = 300 << 20

// thousand is a thousand bytes, and many makes so many words.
var thousand = strings.Repeat("x", 1000)

func many(n int, one func(i int) string) (names grid.Names) {
	for i := range n {
		names = append(names, one(i))
	}
	return names
}

// largeJobs make a job large, each in another part of it.
var largeJobs = []func(j *grid.Job){
	func(j *grid.Job) {
		j.Binary, j.Spec.Script = false, []byte("#!/bin/sh\n"+strings.Repeat("#"+thousand+"\n", 4000))
	},
	func(j *grid.Job) {
		for i := range 4000 {
			j.Spec.Env = append(j.Spec.Env, grid.Value{Name: fmt.Sprint("V", i), Text: thousand})
		}
	},
	func(j *grid.Job) { j.Spec.Args = many(4000, func(int) string { return thousand }) },
	func(j *grid.Job) { j.Ask().PredecessorReq = many(400_000, func(i int) string { return fmt.Sprint(i) }) },
	func(j *grid.Job) {
		j.Ask().PredecessorReq = many(50_000, func(i int) string { return fmt.Sprintf("*a*b*c*%d*", i) })
	},
	func(j *grid.Job) { j.Name = strings.Repeat("n", 4_000_000) },
	func(j *grid.Job) {
		j.Spec.MailTo = many(300_000, func(i int) string { return fmt.Sprintf("a%d@b", i) })
	},
	func(j *grid.Job) {
		j.Ask().HardQueues = many(300_000, func(i int) string { return fmt.Sprintf("q%d*@h*", i) })
	},
	func(j *grid.Job) {
		for i := range 200_000 {
			j.Ask().Hard = append(j.JobRequest.Hard, grid.Request{Name: "arch", Value: fmt.Sprint("a", i)})
		}
	},
	func(j *grid.Job) { j.Ask().HardQueues = grid.Names{strings.Repeat("(", 4_000_000)} },
	func(j *grid.Job) { j.Ask().HardQueues = many(300_000, func(int) string { return "a*@*" }) },
	func(j *grid.Job) {
		j.Ask().Hard = grid.Requests{{Name: "arch", Value: strings.Repeat("!", 2_000_000) + strings.Repeat("*a*|", 400_000) + "b"}}
	},
	func(j *grid.Job) { // as much as is allowed
		a := j.Ask()
		a.PredecessorReq = append(many(gdi.ListMax-gdi.PatternsMost, func(i int) string { return fmt.Sprint(i + 1) }),
			many(gdi.PatternsMost, func(i int) string { return fmt.Sprintf("*a*b*c*%d*", i) })...)
		a.HardQueues = many(gdi.ListMax, func(int) string { return "all.q" })
		j.Spec.MailTo = many(gdi.ListMax, func(i int) string { return fmt.Sprintf("a%d@b", i) })
	},
	func(j *grid.Job) { j.Array, j.Tasks = true, grid.Range{First: 1, Last: 4_000_000_000, Step: 1} },
	func(j *grid.Job) {
		for i := range uint32(400_000) {
			j.UserHold = append(j.UserHold, grid.Range{First: 2 * i, Last: 2 * i, Step: 1})
		}
	},
}

func submitLarge(ctx context.Context, f *Field) error {
	return workers(40, func(w int) error {
		way, err := f.asker()
		if err != nil {
			f.refused()
			f.pause(ctx, 100*time.Millisecond)
			return nil
		}
		defer way.Close()
		for i := w; ctx.Err() == nil; i++ {
			job, err := f.job("-h", "-N", "large", "true")
			if err != nil {
				return err
			}
			largeJobs[i%len(largeJobs)](job)
			var b gdi.Body = &gdi.Submit{Job: job}
			if i/len(largeJobs)%2 == 1 || f.done.Load()*(2<<20) > sizesMax {
				b = &gdi.Verify{Job: job, Mode: "v"}
			}
			reply, err := f.reply(ctx, way, b)
			if err != nil || !reply.OK() {
				f.refused()
			} else {
				f.did()
			}
			if err != nil {
				return nil // too big, or the connection was closed: once more
			}
			if reply.Job != 0 {
				f.ask(ctx, way, &gdi.DeleteJobs{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: reply.Job}}}})
			}
		}
		return nil
	})
}
