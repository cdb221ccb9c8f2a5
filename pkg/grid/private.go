package grid

import (
	"reflect"
	"strings"
)

// SeeTag is the tag by which a field says who may read it. Each text needs one, because it may be a password or a name:
//
//	see:"daemons"  event clients of administrators, and the host that runs the job; no listing has it
//	see:"owner"    besides them the owner of the object and managers
//	see:"cell"     every user of the cell, but no reader of a redacted log
//	see:"RULE"     everybody; RULE is what a redacted log has in its place, see pkg/redact
//
// What is within a field without a tag of its own (a list, a named value) follows the field. Numbers, times and flags
// without a tag are public, as in Grid Engine: every user sees every job with its arguments and context.
const SeeTag = "see"

// audience is who may read a field.
type audience uint8

const (
	everybody audience = iota
	owner
	daemons
)

// privateField is a field that not everybody may read, or one that points to a struct with such fields.
type privateField struct {
	index  int
	seenBy audience
	inside []privateField
}

func privateFieldsOf(t reflect.Type) (out []privateField) {
	for i := range t.NumField() {
		f := privateField{index: i}
		switch field := t.Field(i); field.Tag.Get(SeeTag) {
		case "owner":
			f.seenBy = owner
		case "daemons":
			f.seenBy = daemons
		default:
			if field.Type.Kind() == reflect.Pointer && field.Type.Elem().Kind() == reflect.Struct {
				f.inside = privateFieldsOf(field.Type.Elem())
			}
		}
		if f.seenBy != everybody || f.inside != nil {
			out = append(out, f)
		}
	}
	return out
}

var privateFields = func() (of [KindsEnd][]privateField) {
	for _, s := range Kinds {
		of[s.Kind] = privateFieldsOf(reflect.TypeOf(s.New()).Elem())
	}
	return of
}()

// Public returns an object without its private fields: a copy, or the object itself if it has none; o may be nil.
// Variables of the environment that qsub itself sets, SGE_O_*, are public: qstat -j shows them.
func Public(o Object) Object { return readableBy(o, everybody) }

// Listed returns an object as listings may have it: without what only daemons read.
func Listed(o Object) Object { return readableBy(o, owner) }

// ListedTo returns what a user sees of a listed object; nil: nothing.
func ListedTo(o Object, user string, manager bool) Object {
	if owned, is := o.(interface{ owner() string }); manager || is && owned.owner() == user {
		return o
	}
	if SpecOf(o.Kind()).Confidential {
		return nil
	}
	return Public(o)
}

func (j *Job) owner() string      { return j.Owner }
func (t *Token) owner() string    { return t.Owner }
func (p *Proposal) owner() string { return p.User }

func readableBy(o Object, who audience) Object {
	if o == nil || o.Kind() >= KindsEnd || privateFields[o.Kind()] == nil {
		return o
	}
	if out := withoutPrivate(reflect.ValueOf(o).Elem(), privateFields[o.Kind()], who); out.IsValid() {
		return out.Addr().Interface().(Object)
	}
	return o
}

// withoutPrivate returns a copy of a struct without what is not for a reader, the zero Value if it has nothing of that.
func withoutPrivate(v reflect.Value, fields []privateField, who audience) (out reflect.Value) {
	for _, f := range fields {
		field := v.Field(f.index)
		var rest reflect.Value
		switch values, _ := field.Addr().Interface().(*Values); {
		case field.IsZero(), f.inside == nil && f.seenBy <= who:
			continue
		case f.inside != nil:
			if rest = withoutPrivate(field.Elem(), f.inside, who); !rest.IsValid() {
				continue
			}
			rest = rest.Addr()
		case values != nil:
			public := publicVariables(*values)
			if len(public) == len(*values) {
				continue
			}
			rest = reflect.ValueOf(public)
		default:
			rest = reflect.Zero(field.Type())
		}
		if !out.IsValid() {
			out = reflect.New(v.Type()).Elem()
			out.Set(v)
		}
		out.Field(f.index).Set(rest)
	}
	return out
}

// publicVariables returns the variables that qsub itself sets.
func publicVariables(env Values) (out Values) {
	for _, v := range env {
		if strings.HasPrefix(v.Name, "SGE_O_") {
			out = append(out, v)
		}
	}
	return out
}
