package diff

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/grid"
)

// field is a name and what it says; an empty text says nothing.
type field struct{ name, text string }

// TimeLayout is how times are printed.
const TimeLayout = "01/02/2006 15:04:05.000"

// fields are what an object says of itself, with times in a zone; all: also those that say nothing. nil has none.
func fields(o grid.Object, all bool, zone *time.Location) (out []field) {
	switch o := o.(type) {
	case nil:
		return nil
	case *grid.Conf:
		for _, e := range o.Entries {
			out = append(out, field{e.Name, e.Text})
		}
		return out
	}
	names := conf.Attributes(o.Kind())
	if len(names) == 0 {
		return walk(make([]field, 0, 24), "", reflect.ValueOf(o).Elem(), all, zone)
	}
	for _, n := range names {
		text, _ := conf.Get(o, n)
		out = append(out, field{n, text})
	}
	if c, ok := o.(*grid.SchedConf); ok {
		for _, s := range c.Sections {
			for _, p := range s.Params {
				out = append(out, field{s.Algorithm + "." + p.Name, p.Text})
			}
		}
	}
	return out
}

// status is the only type whose zero value says something.
var status = reflect.TypeFor[grid.Status]()

// walk appends the fields of a struct, and those of the structs in it, with prefix before
// their names; without all, what says nothing may be left out.
func walk(out []field, prefix string, v reflect.Value, all bool, zone *time.Location) []field {
	for i := range v.NumField() {
		x := v.Field(i)
		if !all && x.Kind() != reflect.Struct && x.IsZero() && x.Type() != status { // as most are
			continue
		}
		name := prefix + snake(v.Type().Field(i).Name)
		if x.Kind() == reflect.Pointer {
			if x.IsNil() {
				continue
			}
			x = x.Elem()
			name = strings.TrimSuffix(prefix, ".") // a job's request and spec are the job's own
		}
		switch value := x.Interface().(type) {
		case grid.Values:
			for _, e := range value {
				out = append(out, field{valueName(name, e.Name), or(e.Text)})
			}
		case grid.Amounts:
			for i, n := range grid.UsageNames {
				out = append(out, field{name + "." + n, number(value[i])})
			}
		case grid.Range:
			out = append(out, field{name, grid.Ranges{value}.String()})
		case []string:
			if strings.HasSuffix(name, "args") {
				value = quoted(value)
			}
			out = append(out, field{name, strings.Join(value, " ")})
		default:
			if x.Kind() == reflect.Struct {
				if name != "" {
					name += "."
				}
				out = walk(out, name, x, all, zone)
				continue
			}
			out = append(out, field{name, text(x, zone)})
		}
	}
	return out
}

// quoted returns the words of a command line so that no two lines read the same.
func quoted(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; w == "" || strings.ContainsAny(w, " \"\n\t") {
			out[i] = strconv.Quote(w)
		}
	}
	return out
}

// valueName names an element of a list of values: those that are all that an
// object is about, as a host's load values, go by their own names.
func valueName(list, element string) string {
	if list == "values" {
		return element
	}
	return list + "." + element
}

// text prints a value; what says nothing is empty.
func text(v reflect.Value, zone *time.Location) string {
	switch x := v.Interface().(type) {
	case grid.Time:
		if x == 0 {
			return ""
		}
		return x.Std().In(zone).Format(TimeLayout)
	case grid.Status:
		return x.String()
	case grid.TaskState:
		return grid.Display{State: x}.Letters()
	case grid.QueueState:
		return x.Letters()
	case grid.Restart:
		return [...]string{grid.RestartByQueue: "", grid.RestartYes: "y", grid.RestartNo: "n"}[x]
	case grid.Ranges:
		return x.String()
	case grid.Names:
		return strings.Join(x, ",")
	case []byte:
		if len(x) == 0 {
			return ""
		}
		return fmt.Sprintf("%d bytes", len(x))
	case []uint32:
		return join(len(x), func(i int) string { return strconv.FormatUint(uint64(x[i]), 10) })
	case grid.Requests:
		return join(len(x), func(i int) string { return x[i].Name + "=" + x[i].Value })
	case []grid.Grant:
		return join(len(x), func(i int) string { return fmt.Sprintf("%s=%d", x[i].Instance(), x[i].Slots) })
	}
	switch v.Kind() {
	case reflect.Float64, reflect.Float32:
		return number(v.Float())
	case reflect.Bool:
		if v.Bool() {
			return "yes"
		}
		return ""
	}
	if v.IsZero() {
		return ""
	}
	return fmt.Sprint(v.Interface())
}

func number(n float64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatFloat(n, 'g', 9, 64)
}

func join(n int, word func(int) string) string {
	words := make([]string, n)
	for i := range words {
		words[i] = word(i)
	}
	return strings.Join(words, ",")
}

// snake is a Go name in small letters: UserHold is user_hold, PERange
// pe_range; a single letter stays with its word: NTickets is ntickets.
func snake(name string) string {
	r := []rune(name)
	var b strings.Builder
	word := 0 // where the word began
	for i, c := range r {
		begins := i > 0 && unicode.IsUpper(c) &&
			(unicode.IsLower(r[i-1]) || i-word > 1 && i+1 < len(r) && unicode.IsLower(r[i+1]))
		if begins {
			b.WriteByte('_')
			word = i
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}
