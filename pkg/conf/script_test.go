package conf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/grid"
)

// TestScripts runs testdata/*.txt:
//
//	default KIND NAME           the current object becomes the default one
//	parse KIND                  ... is read from the input
//	edit                        ... is changed: input lines "attribute value" replace or (with a
//	                            dash in front) remove lines of its text, which is then read
//	set|add|modify|replace|remove ATTR [at=TARGET]    changes one attribute; input is the value
//	purge ATTR at=TARGET
//	get ATTR                    prints one attribute
//
// Each prints the lines of the current object's text that have changed, or
// the error.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/script", func(t *testing.T, path string) {
		var o grid.Object
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			arg := func(i int) string {
				if i < len(d.CmdArgs) && len(d.CmdArgs[i].Vals) == 0 {
					return d.CmdArgs[i].Key
				}
				return ""
			}
			at := ""
			d.MaybeScanArgs(t, "at", &at)
			before := ""
			if o != nil {
				before = conf.Format(o)
			}
			var next grid.Object
			var notes []string
			var err error
			ops := map[string]conf.ListOp{"add": conf.Add, "modify": conf.Modify, "replace": conf.Replace, "remove": conf.Remove}
			switch d.Cmd {
			case "default":
				before, next = "", grid.Default(kindOf(arg(0)), arg(1))
			case "parse":
				before, next = "", grid.SpecOf(kindOf(arg(0))).New()
				err = conf.Parse(d.Input, next)
			case "edit":
				next = grid.SpecOf(o.Kind()).New()
				err = conf.Parse(edited(conf.EditText(o), d.Input), next)
			case "set":
				next, err = conf.Set(o, arg(0), d.Input)
			case "purge":
				next, err = conf.Purge(o, arg(0), at)
			case "get":
				text, ok := conf.Get(o, arg(0))
				return fmt.Sprintf("%s %v\n", text, ok)
			default:
				next, notes, err = conf.Change(o, ops[d.Cmd], arg(0), at, d.Input)
			}
			if err != nil {
				return err.Error() + "\n"
			}
			o = next
			var out strings.Builder
			for _, n := range notes {
				out.WriteString(n + "\n")
			}
			for _, l := range strings.SplitAfter(conf.Format(o), "\n") {
				if !strings.Contains(before, l) {
					out.WriteString(l)
				}
			}
			if out.Len() == 0 {
				return "unchanged\n"
			}
			return out.String()
		})
	})
}

func kindOf(name string) grid.Kind {
	for _, s := range grid.Kinds {
		if strings.EqualFold(s.Name, name) {
			return s.Kind
		}
	}
	panic("no kind " + name)
}

// edited replaces lines of text as an administrator would in an editor.
func edited(text, changes string) string {
	lines := strings.Split(text, "\n")
	for _, c := range strings.Split(changes, "\n") {
		name, _, _ := strings.Cut(c, " ")
		out, done := []string{}, false
		for _, l := range lines {
			switch n, _, _ := strings.Cut(l, " "); {
			case n == strings.TrimPrefix(name, "-") && strings.HasPrefix(name, "-"):
				done = true
			case n == name && !done:
				out, done = append(out, c), true
			default:
				out = append(out, l)
			}
		}
		if !done {
			out = append(out, c)
		}
		lines = out
	}
	return strings.Join(lines, "\n")
}
