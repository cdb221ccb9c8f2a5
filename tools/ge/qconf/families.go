package qconf

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/pkg/switches"
)

// family is a kind with names and text: its switches follow from the stem. What is empty is as regular fills it in.
type family struct {
	kind    grid.Kind
	what    string // of help: a cluster queue
	none    string // when the list is empty: no WHAT defined
	unknown string // when -s names none, with %s or %q for the name
	word    string // of -aattr, -mattr, -dattr, -rattr: queue
	// whole means that single attributes cannot be changed.
	whole bool
	// wild lets -s and -d take patterns.
	wild bool
	// template names the object that -a without a name offers; empty: a name is
	// needed.
	template string
	// ready means that what -a offers may be added as it is.
	ready bool
	// absent is the refusal of -m when there is none of the name, with %s or %q for it; empty: unknown.
	absent string
	// lenient makes -s of a name that there is not no failure.
	lenient bool
}

// families are all kinds with names and text: those for which Grid Engine has an order, words or ways of their own,
// then the others in grid.Kinds.
var families = regular([]family{
	{kind: grid.KindCQueue, none: "cluster queue list",
		unknown: "No cluster queue or queue instance matches the phrase %q",
		absent:  "Cluster queue entry %q does not exist",
		word:    "queue", wild: true, template: "template", ready: true},
	{kind: grid.KindExecHost, what: "exec host", none: "execution host", unknown: "denied: exec host %q does not exist",
		absent: "%s is not an execution host", template: "template"},
	{kind: grid.KindPE},
	{kind: grid.KindHGroup, none: "host group list", unknown: "Host group %q does not exist",
		word: "hostgroup", ready: true},
	{kind: grid.KindCalendar},
	{kind: grid.KindCkpt, what: "checkpointing interface definition", none: "ckpt interface definition",
		unknown: "%s is not a checkpointing interface definition"},
	{kind: grid.KindProject, none: "project list", unknown: "%s is not known as a project", template: "template"},
	{kind: grid.KindUser, none: "user list", unknown: "%s is not known as a user", template: "template", lenient: true},
	{kind: grid.KindCentry, what: "complex attribute", none: "complex entry list",
		unknown: "%s is not a complex attribute", whole: true},
	{kind: grid.KindRQS, none: "resource quota set list", unknown: "No resource quota set found", word: "resource_quota",
		wild: true, template: "template"},
	{kind: grid.KindUserset, what: "userset list", none: "userset list", unknown: "denied: access list %q does not exist"},
})

// regular appends the families of the other kinds in grid.Kinds that are configured by name, and fills in what follows
// from a kind's row there.
func regular(list []family) []family {
	for i := range grid.Kinds {
		s := &grid.Kinds[i]
		other := s.Kind == grid.KindConf || s.Kind == grid.KindShareTree // they have switches of their own
		if s.Qconf != "" && s.Default != nil && !other && !slices.ContainsFunc(list, func(f family) bool {
			return f.kind == s.Kind
		}) {
			list = append(list, family{kind: s.Kind})
		}
	}
	for i := range list {
		f := &list[i]
		s := grid.SpecOf(f.kind)
		f.what = cmp.Or(f.what, s.Noun)
		f.none = cmp.Or(f.none, s.Noun)
		f.unknown = cmp.Or(f.unknown, "%s is not a "+s.Noun)
		f.word = cmp.Or(f.word, strings.ToLower(s.Name))
	}
	return list
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
func (f *family) switches() []switches.Switch[commandLine] {
	stem := grid.SpecOf(f.kind).Qconf
	add := switches.Take(switches.One)
	if f.template != "" {
		add = switches.Maybe
	}
	show := switches.Take(switches.One)
	if f.wild {
		show = switches.Maybe
	}
	rows := []switches.Switch[commandLine]{
		row(changes, "A"+stem, "fname", "add "+f.what+" from file", switches.One, f.addFile),
		row(shows, "s"+stem, "name_list", "show "+f.what, show, f.show),
		row(shows, "s"+stem+"l", "", "show a list of all names of "+f.what+"s", nil, f.listNames),
	}
	if f.kind == grid.KindRQS {
		rows = append(rows,
			row(edits, "m"+stem, "[name_list]", "modify "+f.what+"s", switches.Maybe, editQuotas),
			row(changes, "M"+stem, "fname [name_list]", "modify "+f.what+"s from file", fileAndNames, fileQuotas))
	} else {
		rows = append(rows,
			row(edits, "m"+stem, "name", "modify "+f.what, switches.One, eachName(f.modify)),
			row(changes, "M"+stem, "fname", "modify "+f.what+" from file", switches.One, f.modifyFile))
	}
	if f.kind != grid.KindUserset { // -au and -du add and delete users
		rows = append(rows,
			row(edits, "a"+stem, "name", "add "+f.what, add, f.add),
			row(changes, "d"+stem, "name_list", "delete "+f.what, switches.One, f.remove))
	} else {
		rows = append(rows, row(changes, "dul", "listname_list", "delete userset list(s) completely", switches.One, f.remove))
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

// eachName makes a step that runs once for each name in the words.
func eachName(f func(*session, string) error) func(*session, []string) error {
	return func(s *session, w []string) error {
		return s.each(split(w), func(name string) error { return f(s, name) })
	}
}

func split(words []string) (out []string) {
	for _, w := range words {
		out = append(out, switches.Names(w)...)
	}
	return out
}

func (f *family) missing(name string) error {
	text := f.unknown
	if strings.Contains(text, "%") {
		text = fmt.Sprintf(text, name)
	}
	return unknown(f.kind, name, refusal(text))
}

// text is how -s prints objects of a kind.
func (s *session) text(kind grid.Kind, list []document.Shown) string {
	var b strings.Builder
	var rows []*grid.Centry // several attributes of the complex share one table
	for n, o := range list {
		switch of := o.Object.(type) {
		case *grid.Centry:
			rows = append(rows, of)
			continue
		case *grid.ExecHost:
			b.WriteString(s.style().FormatExecHost(of, o.Load))
			continue
		case *grid.Userset:
			if n > 0 {
				b.WriteString("\n")
			}
		}
		text := s.style().Format(o.Object)
		if o.Host != "" {
			text = strings.Replace(text, "\nhostlist ", "\nhostname ", 1)
		}
		b.WriteString(text)
	}
	switch {
	case kind == grid.KindCentry && len(rows) == 1:
		b.WriteString(s.style().Format(rows[0]))
	case kind == grid.KindCentry:
		b.WriteString(conf.FormatCentries(rows))
	}
	return b.String()
}

// show is -sX: the objects named; without names all (or the template).
func (f *family) show(s *session, w []string) error {
	names := split(w)
	if f.kind == grid.KindCQueue {
		return f.showQueues(s, names)
	}
	if len(names) == 0 {
		names = []string{"*"}
	}
	var found []document.Shown
	err := s.each(names, func(name string) error {
		list, err := f.matching(s, name)
		if err == nil && len(list) == 0 {
			err = f.missing(name)
			if f.lenient {
				s.failed(err)
				return nil
			}
		}
		for _, o := range list {
			shown := document.Shown{Object: o}
			if f.kind == grid.KindExecHost {
				if shown.Load, err = s.load(name); err != nil {
					break
				}
			}
			found = append(found, shown)
		}
		return err
	})
	if len(found) == 0 && !s.json {
		return err
	}
	if err := s.showObjects(f.kind, found); err != nil {
		return err
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
		if s.json {
			s.showNames(nil, "")
		}
		return gdi.Refuse(gdi.StatusUnknown, fmt.Sprintf("no %s defined", none))
	}
	s.showNames(names, "\n")
	return nil
}

// showNames prints names with end after each.
func (s *session) showNames(names []string, end string) {
	if s.json {
		s.shown = document.NamesOf(names)
		return
	}
	for _, n := range names {
		s.print(n + end)
	}
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
		same := unchangedTemplate
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

func (f *family) addText(s *session, text source) error {
	list, err := f.parse(text)
	if err != nil {
		return err
	}
	return s.ask(&gdi.Add{Objects: list})
}

// parse reads the objects of a file: one, or several resource quota sets.
func (f *family) parse(from source) ([]grid.Object, error) {
	if f.kind == grid.KindRQS {
		sets, err := conf.ParseRQSs(from.text)
		var out []grid.Object
		for _, set := range sets {
			out = append(out, set)
		}
		switch {
		case errors.Is(err, conf.ErrNoQuotaSets) && from.edited:
			err = refusal(readingError)
		case errors.Is(err, conf.ErrNoQuotaSets), errors.Is(err, conf.ErrNoQuotaRules):
			err = invalid(err)
		case err != nil:
			err = invalid(fmt.Errorf("%w\n%s", err, readingError))
		}
		return out, err
	}
	o := grid.Default(f.kind, "template")
	if err := conf.Parse(from.text, o); err != nil {
		return nil, from.unreadable(f.kind, err)
	}
	grid.SetVersion(o, 0)
	return []grid.Object{o}, nil
}

// modify is -mX: an editor shows the object.
func (f *family) modify(s *session, name string) error {
	old, err := s.object(f.kind, name)
	if err != nil {
		return err
	}
	fresh := old == nil
	if fresh && f.kind == grid.KindExecHost {
		if err := s.resolve(&gdi.Add{Objects: []grid.Object{grid.Default(f.kind, name)}}); err != nil {
			return err
		}
	}
	switch {
	case fresh && f.kind == grid.KindUserset: // -mu makes lists
		list := grid.DefaultUserset(name)
		list.Type = "ACL DEPT"
		old = list
	case fresh && f.absent != "":
		return unknown(f.kind, name, refuse(f.absent, name))
	case fresh:
		return f.missing(name)
	}
	before := conf.EditText(old)
	after, err := s.edited(f.kind, before, unchanged)
	switch {
	case err != nil:
		return err
	case f.kind == grid.KindHGroup && after.text == before:
		return refusal(unchanged)
	}
	list, err := f.parse(after)
	switch {
	case err != nil:
		return err
	case fresh:
		return s.ask(&gdi.Add{Objects: list})
	}
	for _, o := range list {
		if o.Key() == old.Key() {
			grid.SetVersion(o, grid.Version(old))
		}
	}
	return s.ask(&gdi.Modify{Objects: list})
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
