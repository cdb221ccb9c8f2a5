package codec_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// TestDeepValues: values nested a million deep, in a field that no layout has, are an
// error. A recursion over them would overflow the stack, which ends a process whatever
// it recovers from.
func TestDeepValues(t *testing.T) {
	deep := append(bytes.Repeat([]byte{0x91}, 4<<20), 0xc0)
	field := append([]byte{0x81, 0xa1, 'x'}, deep...)
	if _, err := codec.DecodeObject(grid.KindPE, field); err == nil || !strings.Contains(err.Error(), "nested too deep") {
		t.Error(err)
	}
	if _, err := codec.DecodeReport(deep); err == nil {
		t.Error("read a deep report")
	}
}

// TestSmallElements: a message of many elements that take a byte each, and a few
// hundred in memory, is an error before that memory is taken.
func TestSmallElements(t *testing.T) {
	const n = 1 << 20
	nils := append([]byte{0xdd, 0, n >> 16, 0, 0}, bytes.Repeat([]byte{0xc0}, n)...)
	request := func(verb string, fields ...byte) []byte {
		body := append([]byte{0x92, 0xa0 | byte(len(verb))}, verb...)
		return append(append([]byte{0x98, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0}, body...), fields...)
	}
	for name, try := range map[string]struct {
		b    []byte
		read func([]byte) error
	}{
		"report": {append([]byte{0x96, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0}, nils...), func(b []byte) error {
			_, err := codec.DecodeReport(b)
			return err
		}},
		"delete": {append(request("delete", 0x92, 0xc0), nils...), func(b []byte) error {
			_, err := new(codec.Decoder).Request(b)
			return err
		}},
		"configuration": {append([]byte{0x81, 0xa8, 'H', 'o', 's', 't', 'L', 'i', 's', 't'}, nils...), func(b []byte) error {
			_, err := codec.DecodeObject(grid.KindCQueue, b)
			return err
		}},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := try.read(try.b)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err == nil || !strings.Contains(err.Error(), "too many elements") ||
			took > 64*n {
			t.Errorf("%s of %d bytes took %d bytes of memory: %v", name, len(try.b), took, err)
		}
	}
}

// TestManyElements: what programs send in good faith is read, however long.
func TestManyElements(t *testing.T) {
	var refs []gdi.JobRef
	var keys []grid.Key
	var tasks []report.Task
	for i := range uint32(200_000) {
		refs, keys = append(refs, gdi.JobRef{ID: i}), append(keys, grid.Key{ID: i})
		if i < 10_000 {
			tasks = append(tasks, report.Task{Attempt: report.Attempt{Job: i, Task: 1, N: 1}, Phase: report.Running})
		}
	}
	d := new(codec.Decoder)
	for _, b := range []gdi.Body{&gdi.DeleteJobs{Jobs: gdi.Jobs{Refs: refs}}, &gdi.Get{Where: gdi.Where{Keys: keys}}} {
		if _, err := d.Request(codec.AppendRequest(nil, gdi.Request{Body: b})); err != nil {
			t.Error(err)
		}
	}
	if _, err := codec.DecodeReport(codec.AppendReport(nil, report.Report{Tasks: tasks})); err != nil {
		t.Error(err)
	}
	var l events.List
	for range 10_000 {
		l.Events = append(l.Events, events.Del(grid.KindJob, grid.Key{ID: 1}))
	}
	if _, _, err := codec.DecodeList(codec.AppendList(nil, l)); err != nil && !errors.As(err, new(*codec.Unreadable)) {
		t.Error(err)
	}
}

// TestSharedScripts: a decoder lets equal scripts be one, however long, and takes no
// script for another that it was made to look like.
func TestSharedScripts(t *testing.T) {
	d := new(codec.Decoder)
	read := func(script []byte) []byte {
		b := codec.AppendRequest(nil, gdi.Request{Body: &gdi.Submit{Job: &grid.Job{Spec: &grid.JobSpec{Script: script}}}})
		r, err := d.Request(b)
		if err != nil {
			t.Fatal(err)
		}
		return r.Body.(*gdi.Submit).Job.Spec.Script
	}
	big := bytes.Repeat([]byte("x"), 100_000)
	sum := sha256.Sum256(big)
	for _, script := range [][]byte{big, append([]byte{0xc1}, sum[:]...), []byte("small")} {
		one, two := read(script), read(script)
		if !bytes.Equal(one, script) || &one[0] != &two[0] {
			t.Errorf("%d bytes were read as %d, shared %v", len(script), len(one), &one[0] == &two[0])
		}
	}
}

// TestManyNames: a request with more different names than a Decoder keeps does not make
// it forget what the requests of others have in common.
func TestManyNames(t *testing.T) {
	submit := func(d *codec.Decoder, request grid.JobRequest, spec grid.JobSpec) *grid.JobSpec {
		t.Helper()
		body := &gdi.Submit{Job: &grid.Job{JobRequest: &request, Spec: &spec}}
		r, err := d.Request(codec.AppendRequest(nil, gdi.Request{Body: body}))
		if err != nil {
			t.Fatal(err)
		}
		return r.Body.(*gdi.Submit).Job.Spec
	}
	var large grid.JobRequest
	for i := range 400_000 {
		large.PredecessorReq = append(large.PredecessorReq, fmt.Sprint(i))
	}
	usual := grid.JobSpec{Script: []byte("#!/bin/sh\n"), Env: grid.Values{{Name: "HOME", Text: "/home/alice"}}}
	var d codec.Decoder
	before := submit(&d, grid.JobRequest{}, usual)
	submit(&d, large, grid.JobSpec{})
	if after := submit(&d, grid.JobRequest{}, usual); after != before {
		t.Error("a job that is submitted like another one before shares nothing with it")
	}
}
