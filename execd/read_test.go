package execd

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/testkit"
)

// read asks execd for a part of an output file.
func (q *qmaster) read(r report.Read) report.Piece {
	answer := make(chan report.Piece, 1)
	q.reads <- ReadRequest{r, func(p report.Piece) { answer <- p }}
	return <-answer
}

// The output of a job is read while it runs and after its end, where the job has it, and for the owner only.
func TestOutputIsRead(t *testing.T) {
	m := newMachine(t)
	in := filepath.Join(m.out, "in")
	j := script(t, m.out, 7, "echo begun; echo wrong >&2; while [ ! -e "+in+" ]; do sleep 0.05; done; echo ended")
	j.Spec.Merge, j.Spec.Stdout, j.Spec.Stderr = false, []string{m.out}, []string{"$JOB_NAME.$JOB_ID.err"}
	files := report.Files{Job: 7, Name: "test", Owner: self(t), Cwd: m.out, Stdout: j.Spec.Stdout, Stderr: j.Spec.Stderr}
	m.q.deliver("node1", j)
	waitFile(t, filepath.Join(m.out, "test.o7"))
	waitFile(t, filepath.Join(m.out, "test.7.err"))
	show := func(p report.Piece) string {
		if p.Refused != report.Readable {
			return fmt.Sprintf("refused %d %s", p.Refused, p.Text)
		}
		return fmt.Sprintf("%s %d %d %q", p.Path, p.Offset, p.Size, p.Data)
	}
	check := func(what string, r report.Read, want string) {
		t.Helper()
		r.Epoch, r.Task = max(r.Epoch, 1), 1
		var p report.Piece
		// a busy machine may not have begun when the time for a reading is over
		testkit.Until(t, what, testkit.Patience, func() (bool, string) {
			p = m.q.read(r)
			return p.Refused != report.NoAnswer, show(p)
		})
		if got := show(p); got != want {
			t.Errorf("%s: %s, not %s", what, got, want)
		}
	}
	out := filepath.Join(m.out, "test.o7")
	check("output of a running job", report.Read{Files: files}, out+` 0 6 "begun\n"`)
	check("its errors", report.Read{Files: files, Stderr: true}, filepath.Join(m.out, "test.7.err")+` 0 6 "wrong\n"`)
	if err := os.WriteFile(in, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	m.q.end(7)
	check("output of an ended job", report.Read{Files: files, Offset: 6}, out+` 6 12 "ended\n"`)
	check("last line", report.Read{Files: files, Tail: 1}, out+` 6 12 "ended\n"`)
	null := files
	null.Stdout = []string{"/dev/null"}
	check("no file", report.Read{Files: null}, "refused 1 there is no output file: the output of job 7 goes to /dev/null")
	stranger := files
	stranger.Owner = "no-such-user"
	check("unknown owner", report.Read{Files: stranger},
		`refused 2 can't get password entry for user "no-such-user": no such user on host node1`)

	// A superseded qmaster gets nothing, and the next one finds all readers free.
	m.q.set(func() { m.q.epoch = 5 })
	m.q.deliver("node1", binary(t, m.out, 8, "true"))
	m.q.end(8)
	check("a superseded qmaster", report.Read{Epoch: 4, Files: files},
		"refused 2 this qmaster is superseded by another one")
	for range 10 {
		check("the one that leads", report.Read{Epoch: 5, Files: files}, out+` 0 12 "begun\nended\n"`)
	}
}
