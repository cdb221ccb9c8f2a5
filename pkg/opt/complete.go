package opt

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/switches"
)

// Completing returns the environment of a command that does not run: it prints the words that may stand in place of the
// last of its words, a line each. Names of the cell are among them if it answers within completionTime.
func (e Env) Completing() Env {
	e.completing = true
	return e
}

// IsCompleting reports whether the environment is one of Completing.
func (e Env) IsCompleting() bool { return e.completing }

// CompleteWord is the first word of a menu's command line that asks for Completing instead of running.
const CompleteWord = "complete"

// completionTime is how long a user waits for names of the cell.
const completionTime = 50 * time.Millisecond

// grammar is what completion uses of a command.
type grammar struct {
	options  []grammarOption
	commands []string
	operands string // as the usage line names them
}

// grammarOption is an option with its dashes, under all its names, and what its arguments stand for.
type grammarOption struct{ names, args []string }

// grammarOf returns what completion uses of an option table.
func grammarOf[T any](c *switches.Command[T]) (g grammar) {
	for _, s := range c.Switches {
		if s.Refused == "" && s.Help != "" {
			g.options = append(g.options, grammarOption{[]string{"-" + s.Name}, strings.Fields(s.Args)})
		}
	}
	g.operands = strings.TrimPrefix(c.Usage, "[options]")
	return g
}

// argumentWord is the word for an option's argument in its help.
var argumentWord = regexp.MustCompile("`([^`]+)`")

// menuGrammar returns what completion uses of the command of a menu that the words before the last one name.
func menuGrammar(app *cli.App, words []string) (g grammar) {
	commands, flags := app.Commands, app.Flags
	for _, w := range words[:max(0, len(words)-1)] {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(w) })
		if i >= 0 {
			flags, g.operands, commands = commands[i].Flags, commands[i].ArgsUsage, commands[i].Subcommands
		}
	}
	for _, c := range commands {
		if !c.Hidden {
			g.commands = append(g.commands, c.Name)
		}
	}
	for _, f := range append(slices.Clone(flags), cli.HelpFlag) {
		var o grammarOption
		for _, name := range f.Names() {
			o.names = append(o.names, "--"[:min(2, len(name))]+name)
		}
		if d, ok := f.(cli.DocGenerationFlag); ok && d.TakesValue() {
			o.args = []string{""}
			if m := argumentWord.FindStringSubmatch(d.GetUsage()); m != nil {
				o.args[0] = m[1]
			}
		}
		g.options = append(g.options, o)
	}
	return g
}

// printCompletions prints what may stand in place of the last word.
func (e Env) printCompletions(g grammar, words []string) {
	last := ""
	if len(words) > 0 {
		last = words[len(words)-1]
	}
	for _, w := range e.completions(g, words, last) {
		if strings.HasPrefix(w, last) {
			fmt.Fprintln(e.Stdout, w)
		}
	}
}

func (e Env) completions(g grammar, words []string, last string) (out []string) {
	if strings.HasPrefix(last, "-") {
		for _, o := range g.options {
			out = append(out, o.names...)
		}
		return out
	}
	for i := len(words) - 2; i >= 0; i-- {
		for _, o := range g.options {
			if n := len(words) - 2 - i; slices.Contains(o.names, words[i]) && n < len(o.args) {
				return e.valuesOf(words[i], o.args[n], last)
			}
		}
		if strings.HasPrefix(words[i], "-") {
			break
		}
	}
	return append(g.commands, e.valuesOf("", g.operands, last)...)
}

// valuesOf returns the values of an argument that help calls what: names of the cell, or the alternatives themselves.
// Last is what is there of it; the names of a list before its last comma stay.
func (e Env) valuesOf(option, what, last string) (out []string) {
	what = strings.NewReplacer("[", "", "]", "", "{", "", "}", "", "...", "").Replace(what)
	if strings.Contains(what, "|") && !strings.Contains(what, "_") && what == strings.ToLower(what) {
		return strings.Split(what, "|")
	}
	kinds := kindsOf(option, what)
	before := last[:strings.LastIndex(last, ",")+1]
	last = last[len(before):]
	suffix := ""
	if slices.Contains(kinds, grid.KindCentry) {
		name, _, valued := strings.Cut(last, "=")
		of := map[string]grid.Kind{"h": grid.KindExecHost, "hostname": grid.KindExecHost, "q": grid.KindCQueue,
			"qname": grid.KindCQueue}[name]
		switch {
		case !valued:
			suffix = "="
		case of == 0:
			return nil
		default:
			kinds, before = []grid.Kind{of}, before+name+"="
		}
	}
	if i := slices.Index(kinds, grid.KindCQueue); i >= 0 && strings.Contains(last, "@") {
		kinds[i] = grid.KindQInstance
	}
	for _, name := range e.namesOf(kinds) {
		out = append(out, before+name+suffix)
	}
	return out
}

// kindsByWord are the kinds of objects that words of help stand for.
var kindsByWord = map[string]grid.Kind{
	"queue": grid.KindCQueue, "cqueue": grid.KindCQueue, "job": grid.KindJob, "host": grid.KindExecHost,
	"hostlist": grid.KindExecHost, "hostgroup": grid.KindHGroup, "pe": grid.KindPE, "user": grid.KindUser,
	"owner": grid.KindUser, "listname": grid.KindUserset, "project": grid.KindProject, "ckpt": grid.KindCkpt,
	"resource": grid.KindCentry, "attr": grid.KindCentry, "ar": grid.KindAR,
}

// kindsOf returns the kinds of the objects that an argument may name; of qconf's the option says which.
func kindsOf(option, what string) (kinds []grid.Kind) {
	words := strings.FieldsFunc(strings.ToLower(what), func(r rune) bool { return !unicode.IsLetter(r) })
	if len(words) > 0 && words[0] == "name" && len(option) > 2 {
		for i := range grid.Kinds {
			if k := &grid.Kinds[i]; k.Qconf != "" && k.Qconf == option[2:] {
				return []grid.Kind{k.Kind}
			}
		}
	}
	if slices.Contains(words, "share") || slices.Contains(words, "selector") {
		return nil
	}
	for _, w := range words {
		if k := kindsByWord[w]; k != 0 && !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// namesOf returns the names of the objects of some kinds, as many as the cell sends in time; none without a cell.
func (e Env) namesOf(kinds []grid.Kind) (out []string) {
	if len(kinds) == 0 {
		return nil
	}
	ctx, end := context.WithTimeout(e.context(), completionTime)
	defer end()
	names := make(chan string)
	go func() {
		defer close(names)
		c, err := e.Connect(ctx)
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = c.Get(ctx, gdi.Get{Kinds: kinds, Where: gdi.Where{Brief: true}}, func(o grid.Object) error {
			select {
			case names <- o.Key().String():
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	for {
		select {
		case name, more := <-names:
			if !more {
				return out
			}
			if name != grid.GlobalHost && name != "template" {
				out = append(out, name)
			}
		case <-ctx.Done():
			return out
		}
	}
}
