package report

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
)

// constants returns the constants of type Failure that failure.go declares.
func constants(t *testing.T) map[string]Failure {
	file, err := parser.ParseFile(token.NewFileSet(), "failure.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]Failure{}
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := v.Type.(*ast.Ident); ok && kind.Name == "Failure" {
			code, err := strconv.ParseUint(v.Values[0].(*ast.BasicLit).Value, 10, 32)
			if err != nil {
				t.Fatal(err)
			}
			found[v.Names[0].Name] = Failure(code)
		}
		return true
	})
	return found
}

func TestFailures(t *testing.T) {
	rows, texts := map[Failure]bool{}, map[string]Failure{}
	for _, f := range failures {
		if rows[f.code] {
			t.Errorf("failure %d has two rows", f.code)
		}
		rows[f.code] = true
		if f.text == "" || f.text != f.code.String() {
			t.Errorf("failure %d: text %q, shown as %q", f.code, f.text, f.code.String())
		}
		if other, twice := texts[f.text]; twice {
			t.Errorf("failures %d and %d have the same text %q", other, f.code, f.text)
		}
		texts[f.text] = f.code
		if f.fault < NoFault || f.fault > HostFault {
			t.Errorf("failure %d: no fault", f.code)
		}
		if f.next < Over || f.next > AgainIfRerunnable {
			t.Errorf("failure %d: it is not said what becomes of the task", f.code)
		}
		if f.fault == JobFault && f.next != Again {
			t.Errorf("failure %d: a task in error state must wait to be started again", f.code)
		}
	}
	named := constants(t)
	if len(named) == 0 {
		t.Fatal("failure.go has no constant of type Failure")
	}
	for name, code := range named {
		if !rows[code] {
			t.Errorf("%s = %d is not in the table", name, code)
		}
		delete(rows, code)
	}
	for code := range rows {
		t.Errorf("failure %d has no constant of its own", code)
	}
}

func TestUnknownFailure(t *testing.T) {
	f := Failure(44)
	if got := f.String(); got != "invalid execution state" {
		t.Errorf("text %q", got)
	}
	if f.Fault(true) != NoFault || f.Next() != Over || f.Ran() {
		t.Error("a code that is not in the table changes the state of something")
	}
}

// TestOwnShell checks whose fault a missing program is.
func TestOwnShell(t *testing.T) {
	for _, c := range []struct {
		name string
		job  grid.Job
		mode string
		want Fault
	}{
		{"the queue's shell", grid.Job{Spec: &grid.JobSpec{}}, "posix_compliant", QueueFault},
		{"-S", grid.Job{Spec: &grid.JobSpec{Shell: []string{"/bin/zsh"}}}, "posix_compliant", JobFault},
		{"-b y", grid.Job{Binary: true, Spec: &grid.JobSpec{}}, "posix_compliant", QueueFault},
		{"-b y -shell n", grid.Job{Binary: true, Spec: &grid.JobSpec{NoShell: true}}, "posix_compliant", JobFault},
		{"-l container", grid.Job{JobRequest: &grid.JobRequest{Hard: grid.Requests{{Name: "container", Value: "x.sif"}}},
			Spec: &grid.JobSpec{}}, "posix_compliant", JobFault},
		{"#! line", grid.Job{Spec: &grid.JobSpec{}}, "unix_behavior", JobFault},
	} {
		if got := FailedShell.Fault(OwnShell(&c.job, c.mode)); got != c.want {
			t.Errorf("%s: fault %d, want %d", c.name, got, c.want)
		}
	}
	if got := FailedProlog.Fault(true); got != QueueFault {
		t.Errorf("FailedProlog: fault %d", got)
	}
}

func TestEffective(t *testing.T) {
	for _, c := range []struct {
		failed              Failure
		status              uint32
		mayRestart, mayFail bool
		want                Failure
	}{
		{NoFailure, 0, true, true, NoFailure},
		{NoFailure, ExitRestart, true, true, FailedRestart},
		{NoFailure, ExitRestart, false, true, NoFailure},
		{NoFailure, ExitError, true, true, FailedApplication},
		{NoFailure, ExitError, true, false, NoFailure},
		{FailedProlog, ExitRestart, true, true, FailedRestart},
		{FailedEpilog, ExitError, true, true, FailedApplication},
		{FailedPEStart, ExitError, true, true, FailedPEStart},
		{FailedAfterJob, ExitRestart, true, true, FailedAfterJob},
	} {
		r := Result{Failed: c.failed, ExitStatus: c.status}
		if got := r.Effective(c.mayRestart, c.mayFail); got != c.want {
			t.Errorf("failed %d, exit status %d: %d, want %d", c.failed, c.status, got, c.want)
		}
	}
}
