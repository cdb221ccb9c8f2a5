package switches

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/kballard/go-shellquote"
)

// TestValues runs the readers of values: each line of input is one value.
func TestValues(t *testing.T) {
	now := time.Date(2026, 11, 20, 22, 16, 17, 0, time.UTC)
	read := map[string]func(string) (any, error){
		"task-range":  func(s string) (any, error) { return TaskRange(s) },
		"task-ranges": func(s string) (any, error) { return TaskRanges(s) },
		"slot-ranges": func(s string) (any, error) { return SlotRanges(s) },
		"jobs":        func(s string) (any, error) { return JobRefs(s) },
		"names":       func(s string) (any, error) { return fmt.Sprintf("%q", Names(s)), nil },
		"paths":       func(s string) (any, error) { return fmt.Sprintf("%q", Paths(nil, s)), nil },
		"line": func(s string) (any, error) {
			return fmt.Sprintf("%q", LineWords(s)), nil
		},
		"assignments": func(s string) (any, error) { return fmt.Sprintf("%q", Assignments(s)), nil },
		"values": func(s string) (any, error) {
			v, ok := Values(s)
			return fmt.Sprintf("%+v %v", v, ok), nil
		},
		"requests": func(s string) (any, error) {
			r, ok := Requests(nil, s)
			return fmt.Sprintf("%+v %v", r, ok), nil
		},
		"date-time": func(s string) (any, error) {
			at, ok := DateTime(s, now)
			if !ok {
				return nil, errors.New("no date_time")
			}
			return at.Std().UTC().Format(time.DateTime), nil
		},
	}
	datadriven.RunTest(t, "testdata/values.txt", func(t *testing.T, d *datadriven.TestData) string {
		f, ok := read[d.Cmd]
		if !ok {
			d.Fatalf(t, "unknown value %q", d.Cmd)
		}
		var b strings.Builder
		for _, line := range strings.Split(d.Input, "\n") {
			v, err := f(line)
			if err != nil {
				v = "error: " + strings.ReplaceAll(err.Error(), "\n", " / ")
			}
			fmt.Fprintf(&b, "%s\t%v\n", line, v)
		}
		return b.String()
	})
}

// TestParse: how words are divided among switches.
func TestParse(t *testing.T) {
	note := func(name string) func(*[]string, []string) error {
		return func(log *[]string, words []string) error {
			*log = append(*log, fmt.Sprintf("%s%q", name, words))
			return nil
		}
	}
	c := &Command[[]string]{
		Name: "try",
		Switches: []Switch[[]string]{
			{Name: "none", Set: note("none")},
			{Name: "one", Take: One, Set: note("one")},
			{Name: "two", Take: Two, Set: note("two"), Missing: "two arguments"},
			{Name: "maybe", Take: Maybe, Set: note("maybe")},
			{Name: "many", Take: Many, Set: note("many")},
			{Name: "any", Take: Any, Set: note("any")},
			{Name: "gone", Refused: "it never was"},
		},
	}
	datadriven.RunTest(t, "testdata/parse.txt", func(t *testing.T, d *datadriven.TestData) string {
		c.Operand = nil
		if d.HasArg("operands") {
			c.Operand = func(log *[]string, rest []string) (int, error) { return 1, note("operand")(log, rest[:1]) }
		}
		words, err := shellquote.Split(d.Input)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		var log []string
		if err := c.Parse(&log, words); err != nil {
			log = append(log, "error: "+err.Error())
		}
		return strings.Join(log, "\n") + "\n"
	})
}
