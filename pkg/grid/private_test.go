package grid_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/madeup"
)

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
	want := slices.Sorted(slices.Values(grid.Private))
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
