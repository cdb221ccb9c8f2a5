package submit

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/jsv"
	"github.com/quill-grid/quill/pkg/testkit"
)

// said are switches that make the jobs of TestParametersComeBack.
var said = [][]string{
	{"-a", "203012312359.30"}, {"-ac", "x=1,y"}, {"-ac", "z=a=b"}, {"-ar", "7"}, {"-A", "acc"}, {"-c", "sx"},
	{"-c", "0:10:0"}, {"-ckpt", "c"},
	{"-cwd"}, {"-wd", "/tmp"}, {"-dl", "203101010000"}, {"-e", "/tmp/e,h1:/tmp/f"}, {"-h"}, {"-hold_jid", "1,foo"},
	{"-hold_jid_ad", "3"},
	{"-i", "/dev/zero"}, {"-j", "y"}, {"-js", "5"}, {"-l", "h_rt=1:00:00,mem=1G"}, {"-l", "exclusive"},
	{"-soft", "-l", "arch=lx*"}, {"-m", "abe"},
	{"-M", "a@b,c@d"}, {"-masterq", "all.q"}, {"-notify"}, {"-N", "name"}, {"-o", "/tmp/o:x"}, {"-p", "-7"}, {"-P", "prj"},
	{"-pe", "make", "4"},
	{"-pe", "mpi*", "2-8"}, {"-pe", "mpi", "4-"}, {"-pe", "mpi", "2-4,8"}, {"-hard", "-q", "a.q,b.q@h1"},
	{"-soft", "-q", "c.q"}, {"-R", "y"}, {"-r", "y"}, {"-S", "/bin/sh"}, {"-shell", "n"},
	{"-binding", "linear:2"}, {"-binding", "env", "linear"}, {"-binding", "linear:1:0,3"},
	{"-binding", "pe", "striding:2:4:1,0"},
	{"-bamount", "2", "-bunit", "CS", "-btype", "host"}, {"-bamount", "1", "-bfilter", "SCcSCC", "-binstance", "pe"},
	{"-binding", "striding:3:1"}, {"-binding", "explicit:0,0:1,7:0,1"},
	{"-t", "2-10:3"}, {"-t", "5"}, {"-tc", "2"}, {"-w", "e"}, {"-v", "A=b,C=d e"},
}

// TestParametersComeBack: a verifier that sets every parameter to what it received, in any
// order, changes nothing; the job itself is never changed.
func TestParametersComeBack(t *testing.T) {
	from := Client{Context: "client", Program: "qsub", User: "alice", Group: "staff", Host: "h1",
		Now: time.Date(2026, 11, 20, 22, 16, 17, 0, time.UTC)}
	origin := Origin{Getenv: func(string) string { return "" }, Dir: "/work", Host: "h1",
		Now: func() time.Time { return from.Now }}
	testkit.EachSeed(t, 2000, func(t *testing.T, seed uint64) {
		dice := rand.New(rand.NewPCG(seed, 1))
		var line []string
		for _, i := range dice.Perm(len(said))[:dice.IntN(14)] {
			if said[i][0] != "-c" || !slices.Contains(line, "-c") { // of its two kinds a verifier sets one
				line = append(line, said[i]...)
			}
		}
		line = append(line, "-b", "y", "program", "one", "two words")
		s := Qsub(origin).New(line)
		if err := s.table.Parse(s, line); err != nil {
			t.Fatal(line, err)
		}
		s.setDerived(nil)
		job := s.Job
		request := JSVJob(job, from)
		var changes []jsv.Correction
		for _, p := range request.Params {
			if !readOnly.Has(p.Name) {
				changes = append(changes, jsv.Correction{Param: p})
			}
		}
		for _, v := range request.Env {
			changes = append(changes, jsv.Correction{Param: jsv.Param{Name: v.Name, Value: v.Text}, Env: true})
		}
		dice.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
		got, err := Corrected(job, changes, from)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		want := *job
		spec := *job.Spec
		want.Spec = &spec
		if spec.MailTo == nil { // the verifier is sent the user who submits, and sets that
			spec.MailTo = grid.Names{"alice@h1"}
		}
		if !reflect.DeepEqual(&want, got) {
			t.Fatalf("%q:\nwant %+v %+v %+v\n got %+v %+v %+v", line, want, want.JobRequest, want.Spec, *got,
				got.JobRequest, got.Spec)
		}
		if again := JSVJob(job, from); !slices.Equal(again.Params, request.Params) {
			t.Fatalf("%q: the job has been changed", line)
		}
	})
}
