package qconf

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/pkg/switches"
)

// family is a kind with names and text: its switches follow from the stem.
type family struct {
	kind    grid.Kind
	list    string // the switch that lists names: sql
	what    string // of help: a cluster queue
	none    string // when the list is empty: no WHAT defined
	unknown string // when -s names none, with %s or %q for the name
	// show prints one object; nil: its text.
	show func(*session, grid.Object) (string, error)
	// wild lets -s and -d take patterns.
	wild bool
	// template names the object that -a without a name offers; empty: a name is
	// needed.
	template string
	// ready means that what -a offers may be added as it is.
	ready bool
	// lenient makes -s of a name that there is not no failure.
	lenient bool
}

var families = []family{
	{kind: grid.KindCQueue, list: "sql", what: "cluster queue", none: "cluster queue list",
		unknown: "No cluster queue or queue instance matches the phrase %q", wild: true, template: "template", ready: true},
	{kind: grid.KindExecHost, list: "sel", what: "exec host", none: "execution host", unknown: "denied: exec host %q does not exist",
		show: (*session).execHost, template: "template"},
	{kind: grid.KindPE, list: "spl", what: "parallel environment", none: "parallel environment", unknown: "%s is not a parallel environment"},
	{kind: grid.KindHGroup, list: "shgrpl", what: "host group", none: "host group list", unknown: "Host group %q does not exist", ready: true},
	{kind: grid.KindCalendar, list: "scall", what: "calendar", none: "calendar", unknown: "%s is not a calendar"},
	{kind: grid.KindCkpt, list: "sckptl", what: "checkpointing interface definition", none: "ckpt interface definition",
		unknown: "%s is not a checkpointing interface definition"},
	{kind: grid.KindProject, list: "sprjl", what: "project", none: "project list", unknown: "%s is not known as a project", template: "template"},
	{kind: grid.KindUser, list: "suserl", what: "user", none: "user list", unknown: "%s is not known as a user", template: "template", lenient: true},
	{kind: grid.KindCentry, list: "scel", what: "complex attribute", none: "complex entry list", unknown: "%s is not a complex attribute"},
	{kind: grid.KindRQS, list: "srqsl", what: "resource quota set", none: "resource quota set list", unknown: "No resource quota set found",
		wild: true, template: "template"},
	{kind: grid.KindUserset, list: "sul", what: "userset list", none: "userset list", unknown: "denied: access list %q does not exist"},
}

func familyOf(kind grid.Kind) *family {
	for i := range families {
		if families[i].kind == kind {
			return &families[i]
		}
	}
	return nil
}

// switches are a family's rows of the table: -aX -AX -mX -MX -dX -sX and the
// list.
func (f *family) switches() []switches.Switch[[]step] {
	stem := grid.SpecOf(f.kind).Qconf
	add := switches.Take(switches.One)
	if f.template != "" {
		add = switches.Maybe
	}
	show := switches.Take(switches.One)
	if f.wild {
		show = switches.Maybe
	}
	rows := []switches.Switch[[]step]{
		{Name: "A" + stem, Args: "fname", Help: "add " + f.what + " from file", Take: switches.One, Set: words(f.addFile)},
		{Name: "s" + stem, Args: "name_list", Help: "show " + f.what, Take: show, Set: func(steps *[]step, w []string) error {
			*steps = append(*steps, func(s *session) error { return f.showAll(s, split(w)) })
			return nil
		}},
		{Name: f.list, Help: "show a list of all names of " + f.what + "s", Set: words(f.listNames)},
	}
	if f.kind == grid.KindRQS {
		rows = append(rows,
			row("m"+stem, "[name_list]", "modify "+f.what+"s", switches.Maybe, editQuotas),
			row("M"+stem, "fname [name_list]", "modify "+f.what+"s from file", fileAndNames, fileQuotas))
	} else {
		rows = append(rows,
			nameRow("m"+stem, "name", "modify "+f.what, f.modify),
			row("M"+stem, "fname", "modify "+f.what+" from file", switches.One, f.modifyFile))
	}
	if f.kind != grid.KindUserset { // -au and -du add and delete users
		rows = append(rows,
			switches.Switch[[]step]{Name: "a" + stem, Args: "name", Help: "add " + f.what, Take: add, Set: words(f.add)},
			switches.Switch[[]step]{Name: "d" + stem, Args: "name_list", Help: "delete " + f.what, Take: switches.One, Set: words(f.remove)})
	} else {
		rows = append(rows, switches.Switch[[]step]{Name: "dul", Args: "listname_list", Help: "delete userset list(s) completely", Take: switches.One, Set: words(f.remove)})
	}
	return rows
}

// fileAndNames is the words of -Mrqs: a file, and names may follow.
func fileAndNames(rest []string) int {
	if len(rest) == 0 {
		return switches.Missing
	}
	return 1 + switches.Maybe(rest[1:])
}

// words makes a step of a method that takes the words of a switch.
func words(f func(*session, []string) error) func(*[]step, []string) error {
	return func(steps *[]step, w []string) error {
		*steps = append(*steps, func(s *session) error { return f(s, w) })
		return nil
	}
}

// names makes a step that runs once for each name in the words.
func names(f func(*session, string) error) func(*[]step, []string) error {
	return words(func(s *session, w []string) error {
		return s.each(split(w), func(name string) error { return f(s, name) })
	})
}

func split(words []string) (out []string) {
	for _, w := range words {
		out = append(out, switches.Names(w)...)
	}
	return out
}

func (f *family) missing(name string) error {
	if strings.Contains(f.unknown, "%") {
		return refuse(f.unknown, name)
	}
	return refusal(f.unknown)
}

// text is how -s prints an object.
func (f *family) text(s *session, o grid.Object) (string, error) {
	if f.show != nil {
		return f.show(s, o)
	}
	return s.style().Format(o), nil
}

// showAll is -sX: the objects named; without names all (or the template).
func (f *family) showAll(s *session, names []string) error {
	if f.kind == grid.KindCQueue {
		return f.showQueues(s, names)
	}
	if len(names) == 0 {
		names = []string{"*"}
	}
	var rows []*grid.Centry // attributes of the complex share one table
	shown := 0
	err := s.each(names, func(name string) error {
		list, err := f.matching(s, name)
		if err == nil && len(list) == 0 {
			err = f.missing(name)
			if f.lenient {
				s.failed(err)
				return nil
			}
		}
		if err != nil {
			return err
		}
		for _, o := range list {
			if c, ok := o.(*grid.Centry); ok {
				rows = append(rows, c)
				continue
			}
			text, err := f.text(s, o)
			if err != nil {
				return err
			}
			if shown++; shown > 1 && f.kind == grid.KindUserset {
				s.print("\n")
			}
			s.print(text)
		}
		return nil
	})
	if len(rows) > 0 {
		s.print(conf.FormatCentries(rows))
	}
	return err
}

// matching returns the objects that a name, or a pattern where patterns are
// allowed, stands for.
func (f *family) matching(s *session, name string) ([]grid.Object, error) {
	if !f.wild || !strings.ContainsAny(name, "*?[") {
		return s.objects(f.kind, name)
	}
	all, err := s.objects(f.kind)
	var out []grid.Object
	for _, o := range all {
		if pattern.Match(name, o.Key().Name) {
			out = append(out, o)
		}
	}
	return out, err
}

// listNames is -sXl.
func (f *family) listNames(s *session, _ []string) error {
	all, err := s.objects(f.kind)
	if err != nil {
		return err
	}
	var out []string
	for _, o := range all {
		if f.kind != grid.KindExecHost || o.Key().Name != grid.GlobalHost {
			out = append(out, o.Key().Name)
		}
	}
	return s.nameLines(out, f.none)
}

func (s *session) nameLines(names []string, none string) error {
	if len(names) == 0 {
		return fmt.Errorf("no %s defined", none)
	}
	s.print(strings.Join(names, "\n") + "\n")
	return nil
}

// add is -aX: an editor shows a template, or for hosts an object to start
// from.
func (f *family) add(s *session, w []string) error {
	names := split(w)
	if len(names) == 0 {
		names = []string{f.template}
	}
	return s.each(names, func(name string) error {
		o := grid.Default(f.kind, name)
		if f.kind == grid.KindExecHost {
			like, err := s.object(f.kind, name)
			if err != nil {
				return err
			}
			if h, ok := like.(*grid.ExecHost); ok {
				c := *h
				c.Version = 0
				o = &c
			}
		}
		same := sameFile
		if f.ready {
			same = ""
		}
		text, err := s.edited(f.kind, conf.EditText(o), same)
		if err != nil {
			return err
		}
		return f.addText(s, text)
	})
}

func (f *family) addFile(s *session, w []string) error {
	text, err := s.file(w[0])
	if err != nil {
		return err
	}
	return f.addText(s, text)
}

func (f *family) addText(s *session, text string) error {
	list, err := f.parse(text)
	if err != nil {
		return err
	}
	return s.ask(&gdi.Add{Objects: list})
}

// parse reads the objects of a file: one, or several resource quota sets.
func (f *family) parse(text string) ([]grid.Object, error) {
	if f.kind == grid.KindRQS {
		sets, err := conf.ParseRQSs(text)
		var out []grid.Object
		for _, set := range sets {
			out = append(out, set)
		}
		return out, err
	}
	o := grid.Default(f.kind, "template")
	if err := conf.Parse(text, o); err != nil {
		return nil, fmt.Errorf("error: %w", err)
	}
	grid.SetVersion(o, 0)
	return []grid.Object{o}, nil
}

// modify is -mX: an editor shows the object.
func (f *family) modify(s *session, name string) error {
	old, err := s.object(f.kind, name)
	if err == nil && old == nil {
		err = f.missing(name)
	}
	if err != nil {
		return err
	}
	before := conf.EditText(old)
	after, err := s.edited(f.kind, before, f.same())
	if err != nil {
		return err
	}
	if after == before && f.kind == grid.KindUserset {
		s.note("%s\n", sameFile)
		return nil
	}
	list, err := f.parse(after)
	if err != nil {
		return err
	}
	for _, o := range list {
		if o.Key() == old.Key() {
			grid.SetVersion(o, grid.Version(old))
		}
	}
	return s.ask(&gdi.Modify{Objects: list})
}

// same is the refusal of a -mX that changed nothing; empty where that is no failure.
func (f *family) same() string {
	switch f.kind {
	case grid.KindCQueue, grid.KindUserset:
		return ""
	case grid.KindHGroup:
		return "Object has not been changed"
	}
	return sameFile
}

// modifyFile is -MX.
func (f *family) modifyFile(s *session, w []string) error {
	text, err := s.file(w[0])
	if err != nil {
		return err
	}
	list, err := f.parse(text)
	if err != nil {
		return err
	}
	return s.ask(&gdi.Modify{Objects: list})
}

// remove is -dX.
func (f *family) remove(s *session, w []string) error {
	d := &gdi.Delete{Kind: f.kind}
	for _, name := range split(w) {
		keys := []grid.Key{{Name: name}}
		if f.wild && strings.ContainsAny(name, "*?[") {
			list, err := f.matching(s, name)
			if err == nil && len(list) == 0 {
				err = f.missing(name)
			}
			if err != nil {
				return err
			}
			keys = nil
			for _, o := range list {
				keys = append(keys, o.Key())
			}
		}
		d.Keys = append(d.Keys, keys...)
	}
	return s.ask(d)
}
