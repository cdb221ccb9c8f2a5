package grid_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/madeup"
)

// private names the fields that not every user may read.
var private = []string{
	"Job.Spec.Script", "Job.Spec.Env", "Job.Spec.Connect", "Job.Spec.SubmitCommand",
	"PETask.Launch", "Accounting.SubmitCommand", "Token.Comment", "Token.Digest",
	"Proposal.Agent", "Proposal.Reason", "Proposal.Effect", "Proposal.Changes", "Proposal.Text", "Proposal.Touches",
	"Proposal.Decided", "Receipt.Reply",
}

// TestPublic fills each object: Public removes exactly the private fields, and leaves
// the object itself as it is.
func TestPublic(t *testing.T) {
	var gone []string
	for _, s := range grid.Kinds {
		o, twin := s.New(), s.New()
		new(madeup.Filler).Fill(o)
		new(madeup.Filler).Fill(twin)
		public := grid.Public(o)
		if !reflect.DeepEqual(o, twin) {
			t.Errorf("%s: the object itself was changed", s.Name)
		}
		missing(reflect.ValueOf(o).Elem(), reflect.ValueOf(public).Elem(), reflect.TypeOf(o).Elem().Name(), &gone)
		if again := grid.Public(public); again != public {
			t.Errorf("%s: public, and copied nevertheless", s.Name)
		}
	}
	want := slices.Sorted(slices.Values(private))
	if slices.Sort(gone); !slices.Equal(gone, want) {
		t.Errorf("removed %v, want %v", gone, want)
	}
}

func TestPublicEnvironment(t *testing.T) {
	j := &grid.Job{
		Spec: &grid.JobSpec{Env: grid.Values{{Name: "SGE_O_HOME", Text: "/home/a"}, {Name: "PASSWORD", Text: "x"}}}}
	if env := grid.Public(j).(*grid.Job).Spec.Env; fmt.Sprint(env) != "[{SGE_O_HOME /home/a}]" {
		t.Error(env)
	}
}

// TestPrivateTags: Public and Listed reach each field whose tag hides it, wherever it is within an object.
func TestPrivateTags(t *testing.T) {
	var tagged []string
	seen := map[reflect.Type]bool{}
	var look func(r reflect.Type, at string)
	look = func(r reflect.Type, at string) {
		switch r.Kind() {
		case reflect.Pointer, reflect.Slice:
			look(r.Elem(), at)
		case reflect.Struct:
			if seen[r] {
				return
			}
			seen[r] = true
			for i := range r.NumField() {
				name := at + "." + r.Field(i).Name
				switch r.Field(i).Tag.Get(grid.SeeTag) {
				case "owner", "daemons":
					tagged = append(tagged, name)
				default:
					look(r.Field(i).Type, name)
				}
			}
		}
	}
	for _, s := range grid.Kinds {
		r := reflect.TypeOf(s.New()).Elem()
		look(r, r.Name())
	}
	want := slices.Sorted(slices.Values(private))
	if slices.Sort(tagged); !slices.Equal(tagged, want) {
		t.Errorf("tagged are %v, want %v", tagged, want)
	}
	var gone []string
	for _, s := range grid.Kinds {
		o := s.New()
		new(madeup.Filler).Fill(o)
		missing(reflect.ValueOf(o).Elem(), reflect.ValueOf(grid.Listed(o)).Elem(), reflect.TypeOf(o).Elem().Name(), &gone)
	}
	if slices.Sort(gone); !slices.Equal(gone, []string{"Job.Spec.Connect", "PETask.Launch", "Token.Digest"}) {
		t.Errorf("no listing has %v", gone)
	}
}

// TestListedTo: an object is listed to its owner and to managers as it is, to others without private fields or not at
// all.
func TestListedTo(t *testing.T) {
	job := &grid.Job{Owner: "alice", Spec: &grid.JobSpec{Script: []byte("secret")}}
	token, proposal := &grid.Token{Owner: "alice", Comment: "laptop"}, &grid.Proposal{User: "alice", Text: "change"}
	receipt := &grid.Receipt{User: "alice", Reply: []byte("answer")}
	for _, o := range []grid.Object{job, token, proposal, receipt, &grid.PE{Name: "mpi"}} {
		if grid.ListedTo(o, "root", true) != o {
			t.Errorf("a manager does not see all of %s", o.Kind())
		}
		if _, others := o.(*grid.Receipt); grid.ListedTo(o, "alice", false) != o != others {
			t.Errorf("its owner sees %v of %s", grid.ListedTo(o, "alice", false), o.Kind())
		}
	}
	if seen := grid.ListedTo(job, "bob", false).(*grid.Job); seen.Spec.Script != nil {
		t.Error("another user sees the script")
	}
	for _, o := range []grid.Object{token, proposal} {
		if grid.ListedTo(o, "bob", false) != nil {
			t.Errorf("another user sees a %s", o.Kind())
		}
	}
}

// missing adds the fields of public that are empty and those of o that are not.
func missing(o, public reflect.Value, at string, gone *[]string) {
	for i := range o.NumField() {
		f, p, name := o.Field(i), public.Field(i), at+"."+o.Type().Field(i).Name
		switch {
		case reflect.DeepEqual(f.Interface(), p.Interface()):
		case p.IsZero():
			*gone = append(*gone, name)
		case f.Kind() == reflect.Pointer:
			missing(f.Elem(), p.Elem(), name, gone)
		default:
			*gone = append(*gone, name+" changed")
		}
	}
}
