package algorithm

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// The parameters of an algorithm are a struct, its Config:
//
//	type Config struct {
//		Period float64 `param:"min_period_s" default:"5" help:"seconds between two runs"`
//		Levels []int   `param:"weights" default:"0,1,2" help:"weight of each level"`
//		Queues []Queue `param:"queue" help:"one line each: its name and its parameters"`
//	}
//	type Queue struct {
//		Name string // no tag: identified by its position in the line
//		Max  *int   `param:"QPmax" default:"none"`
//	}
//
// A slice of structs is a table, a parameter line for each row, or the line none;
// defaults of rows are separated by "|". A pointer is a value or none.

// Decode reads a section of the scheduler configuration into a Config:
// defaults where nothing is said, an error that names the parameter for what
// is unknown, said twice or no value of its type.
func Decode(section []grid.Param, into any) error {
	c := reflect.ValueOf(into).Elem()
	seen := map[string]bool{}
	for i := range c.NumField() {
		if f := c.Type().Field(i); f.Tag.Get("param") != "" {
			if err := byDefault(c.Field(i), f.Tag.Get("default")); err != nil {
				return fmt.Errorf("%s: %w", f.Tag.Get("param"), err)
			}
		}
	}
	for _, p := range section {
		v, ok := field(c, p.Name)
		if !ok {
			return fmt.Errorf("unknown parameter %q: %s", p.Name, namesOf(c))
		}
		var err error
		switch {
		case !table(v.Type()):
			if seen[p.Name] {
				return fmt.Errorf("parameter %q appears more than once", p.Name)
			}
			err = parseGiven(v, strings.TrimSpace(p.Text))
		default:
			if !seen[p.Name] {
				v.SetLen(0)
			}
			err = row(v, p.Text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		seen[p.Name] = true
	}
	return nil
}

// Describe returns every parameter of a Config, with its meaning.
func Describe(config any) (section []grid.Param) {
	c := reflect.Indirect(reflect.ValueOf(config))
	for i := range c.NumField() {
		f, v := c.Type().Field(i), c.Field(i)
		p := grid.Param{Name: f.Tag.Get("param"), Help: f.Tag.Get("help")}
		switch {
		case p.Name == "":
		case table(v.Type()):
			p.Table = true
			if v.Len() == 0 {
				p.Text = none
				section = append(section, p)
			}
			for k := range v.Len() {
				p.Text = rowText(v.Index(k))
				section = append(section, p)
				p.Help = ""
			}
		default:
			p.Text = text(v)
			section = append(section, p)
		}
	}
	return section
}

func table(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct && t != reflect.TypeFor[grid.Values]()
}

func byDefault(v reflect.Value, text string) error {
	switch {
	case !table(v.Type()):
		return parse(v, text)
	case text == "":
		return nil
	}
	for line := range strings.SplitSeq(text, "|") {
		if err := row(v, line); err != nil {
			return err
		}
	}
	return nil
}

func field(c reflect.Value, name string) (reflect.Value, bool) {
	for i := range c.NumField() {
		if c.Type().Field(i).Tag.Get("param") == name && name != "" {
			return c.Field(i), true
		}
	}
	return reflect.Value{}, false
}

// namesOf returns which parameters there are, as a part of a sentence.
func namesOf(c reflect.Value) string {
	var names []string
	for i := range c.NumField() {
		if name := c.Type().Field(i).Tag.Get("param"); name != "" {
			names = append(names, name)
		}
	}
	if names == nil {
		return "there is none"
	}
	return "it is none of " + strings.Join(names, ", ")
}

// row adds a line to a table: the fields without a tag by place, the others
// as name=value. A line of nothing but none adds nothing.
func row(rows reflect.Value, line string) error {
	r := reflect.New(rows.Type().Elem()).Elem()
	words := strings.Fields(line)
	if isNone(line) {
		return nil
	}
	for i := range r.NumField() {
		f := r.Type().Field(i)
		if f.Tag.Get("param") != "" {
			if err := parse(r.Field(i), f.Tag.Get("default")); err != nil {
				return err
			}
			continue
		}
		if len(words) == 0 || isField(r, words[0]) {
			return fmt.Errorf("%q lacks its %s", line, strings.ToLower(f.Name))
		}
		if err := parse(r.Field(i), words[0]); err != nil {
			return err
		}
		words = words[1:]
	}
	seen := map[string]bool{}
	for _, w := range words {
		name, text, _ := strings.Cut(w, "=")
		v, ok := field(r, name)
		if !ok {
			return fmt.Errorf("%q: unknown parameter %q: %s", line, name, namesOf(r))
		}
		if seen[name] {
			return fmt.Errorf("%q: %s appears more than once", line, name)
		}
		seen[name] = true
		if err := parseGiven(v, text); err != nil {
			return fmt.Errorf("%q: %s: %w", line, name, err)
		}
	}
	for i := range rows.Len() {
		if reflect.DeepEqual(rows.Index(i).Field(0).Interface(), r.Field(0).Interface()) {
			return fmt.Errorf("%v appears more than once", r.Field(0).Interface())
		}
	}
	rows.Set(reflect.Append(rows, r))
	return nil
}

// isNone reports whether a line is that of a table without rows.
func isNone(line string) bool {
	words := strings.Fields(line)
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !strings.EqualFold(w, none) })
}

// isField reports whether a word gives a field of a row by its name.
func isField(r reflect.Value, word string) bool {
	name, _, gives := strings.Cut(word, "=")
	_, ok := field(r, name)
	return gives && ok
}

func rowText(r reflect.Value) string {
	var words []string
	for i := range r.NumField() {
		w := text(r.Field(i))
		if name := r.Type().Field(i).Tag.Get("param"); name != "" {
			w = name + "=" + w
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

const none = "none"

// parseGiven parses a text that a configuration has, which is never empty.
func parseGiven(v reflect.Value, text string) error {
	if text == "" {
		return errors.New("lacks a value")
	}
	return parse(v, text)
}

func parse(v reflect.Value, text string) (err error) {
	empty := text == "" || strings.EqualFold(text, none)
	bad := func(noun string) error { return fmt.Errorf("%q is no %s", text, noun) }
	switch v.Kind() {
	case reflect.Pointer:
		v.SetZero()
		if !empty {
			v.Set(reflect.New(v.Type().Elem()))
			return parse(v.Elem(), text)
		}
	case reflect.Bool:
		on, ok := grid.CentryType("BOOL").Parse(text)
		if !ok && !empty {
			return bad("boolean")
		}
		v.SetBool(on == 1)
	case reflect.Int, reflect.Int32, reflect.Int64:
		n := int64(0)
		if text != "" {
			n, err = strconv.ParseInt(text, 10, 64)
		}
		if err != nil {
			return bad("whole number")
		}
		v.SetInt(n)
	case reflect.Float64:
		x := 0.0
		if text != "" {
			x, err = strconv.ParseFloat(text, 64)
		}
		if err != nil {
			return bad("number")
		}
		v.SetFloat(x)
	case reflect.String:
		if empty {
			text = ""
		}
		v.SetString(text)
	case reflect.Slice:
		v.SetZero()
		if empty {
			return nil
		}
		for word := range strings.SplitSeq(text, ",") {
			e := reflect.New(v.Type().Elem()).Elem()
			if e.Kind() == reflect.Struct { // grid.Value
				name, value, ok := strings.Cut(word, "=")
				if !ok || name == "" || value == "" {
					return fmt.Errorf("%q is not name=value", word)
				}
				if _, twice := v.Interface().(grid.Values).Get(name); twice {
					return fmt.Errorf("%s appears more than once", name)
				}
				e.Set(reflect.ValueOf(grid.Value{Name: name, Text: value}))
			} else if err := parse(e, word); err != nil {
				return err
			}
			v.Set(reflect.Append(v, e))
		}
	default:
		return fmt.Errorf("a parameter can't be of type %s", v.Type())
	}
	return nil
}

func text(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return none
		}
		return text(v.Elem())
	case reflect.String:
		if v.Len() == 0 {
			return none
		}
		return v.String()
	case reflect.Slice:
		if v.Len() == 0 {
			return none
		}
		words := make([]string, v.Len())
		for i := range words {
			if e, ok := v.Index(i).Interface().(grid.Value); ok {
				words[i] = e.Name + "=" + e.Text
			} else {
				words[i] = text(v.Index(i))
			}
		}
		return strings.Join(words, ",")
	}
	return fmt.Sprint(v.Interface())
}
