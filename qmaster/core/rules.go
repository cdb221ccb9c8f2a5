package core

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// rules are what a kind adds to the generic add, modify and delete. A nil
// function means that there is nothing to add.
type rules struct {
	noun string
	from string // what the list is called from which objects are removed, if not noun
	// twice is what is said of an object that is added a second time, when that is
	// no failure.
	twice string
	// complete sets what qmaster alone may say in a new version of an object.
	complete func(*Core, grid.Object)
	// valid returns what is wrong with a new version of an object.
	valid func(*Core, grid.Object) string
	// refers returns which attribute of a new version of an object names what there is not, and its values that do not suit.
	refers func(*Core, grid.Object) *gdi.Answer
	// together returns why an object cannot exist with others of its kind, of which it
	// may be one.
	together func(o grid.Object, all []grid.Object) string
	// inUse returns why an object can't be removed.
	inUse func(*Core, gdi.Request, grid.Object) string
	// then emits what follows from the change; old or new is nil.
	then func(c *Core, old, new grid.Object)
	// warn returns what of a new version of an object has no effect; old is nil for a
	// new object.
	warn func(old, new grid.Object) []string
	// text replaces the usual answer.
	text func(r gdi.Request, verb string, o grid.Object) string
}

// rulesOf returns the rules of a configuration kind, nil for kinds that users
// do not configure.
func rulesOf(k grid.Kind) *rules {
	var r rules
	switch k {
	case grid.KindCQueue:
		r = rules{valid: validCQueue, refers: cqueueRefers, inUse: cqueueInUse, then: cqueueChanged}
	case grid.KindHGroup:
		r = rules{valid: validHGroup, refers: hgroupRefers, inUse: hgroupInUse, then: hgroupChanged, from: "host group entry"}
	case grid.KindExecHost:
		r = rules{valid: validExecHost, refers: execHostRefers, inUse: execHostInUse, then: execHostChanged, from: "execution host"}
	case grid.KindPE:
		r = rules{valid: validPE, refers: peRefers, warn: peWithoutEffect, inUse: peInUse}
	case grid.KindCkpt:
		r = rules{valid: validCkpt, inUse: ckptInUse, from: "checkpointing environment"}
	case grid.KindCalendar:
		r = rules{valid: validCalendar, inUse: calendarInUse, then: calendarChanged}
	case grid.KindCentry:
		r = rules{complete: completeCentry, valid: validCentry, together: centryTwice, inUse: centryInUse, from: "complex"}
	case grid.KindUserset:
		r = rules{valid: validUserset, inUse: usersetInUse}
	case grid.KindProject:
		r = rules{valid: validProject, refers: projectRefers, inUse: projectInUse, then: projectChanged}
	case grid.KindUser:
		r = rules{refers: userRefers, inUse: userInUse, then: userChanged}
	case grid.KindManager:
		r = rules{inUse: managerInUse}
	case grid.KindOperator:
		r = rules{inUse: managerInUse}
	case grid.KindAdminHost:
		r = rules{inUse: hostInUse, text: hostListText, twice: "adminhost %q already exists"}
	case grid.KindSubmitHost:
		r = rules{text: hostListText, twice: "submithost %q already exists"}
	case grid.KindConf:
		r = rules{valid: validConf, refers: confRefers, warn: confWithoutEffect, inUse: confInUse, then: confChanged}
	case grid.KindSchedConf:
		r = rules{valid: validSchedConf, refers: schedConfRefers, inUse: schedConfInUse, then: schedConfChanged, text: schedConfText}
	case grid.KindRQS:
		r = rules{valid: validRQS}
	case grid.KindShareTree:
		r = rules{complete: completeShareTree, valid: validShareTree, text: shareTreeText}
	default:
		if s := grid.SpecOf(k); s == nil || !s.Configured() {
			return nil
		}
	}
	r.noun = grid.SpecOf(k).Noun
	return &r
}

func (r *rules) check(c *Core, o grid.Object) (refusal *gdi.Answer) {
	if r.complete != nil {
		r.complete(c, o)
	}
	if r.valid != nil {
		refusal = wrong("", r.valid(c, o))
	}
	if refusal == nil && r.refers != nil {
		refusal = r.refers(c, o)
	}
	return refusal
}

func (r *rules) used(c *Core, req gdi.Request, o grid.Object) string {
	if r.inUse == nil {
		return ""
	}
	return r.inUse(c, req, o)
}

func (r *rules) follow(c *Core, old, new grid.Object) {
	if r.then != nil {
		r.then(c, old, new)
	}
}

func (r *rules) warned(old, new grid.Object) (out []gdi.Answer) {
	if r.warn != nil && new != nil {
		for _, text := range r.warn(old, new) {
			out = append(out, gdi.Warn("warning: "+text))
		}
	}
	return out
}

func (r *rules) changed(req gdi.Request, verb string, o grid.Object) gdi.Answer {
	if r.text != nil {
		return gdi.Done(r.text(req, verb, o))
	}
	where, list := "to", r.noun
	switch verb {
	case "modified":
		where = "in"
	case "removed":
		where, list = "from", cmp.Or(r.from, list)
	}
	return gdi.Done(fmt.Sprintf("%s@%s %s %q %s %s list", req.User, req.Host, verb, o.Key(), where, list))
}

func hostListText(req gdi.Request, verb string, o grid.Object) string {
	list := grid.SpecOf(o.Kind()).Noun
	if verb == "removed" {
		return fmt.Sprintf("%s@%s removed %q from %s list", req.User, req.Host, o.Key(), list)
	}
	return fmt.Sprintf("%s added to %s list", o.Key(), list)
}

func schedConfInUse(*Core, gdi.Request, grid.Object) string {
	return "denied: the scheduler configuration can't be deleted"
}

func schedConfChanged(c *Core, old, new grid.Object) {
	decayChanged(c, old, new)
	worthChanged(c, old, new)
}

func schedConfText(gdi.Request, string, grid.Object) string { return "changed scheduler configuration" }

// missing refuses an attribute that names an object of a kind which does not exist.
func (c *Core) missing(attribute string, k grid.Kind, lists ...grid.Names) *gdi.Answer {
	for _, names := range lists {
		for _, n := range names {
			if n != "" && c.state.Get(k, grid.Key{Name: n}) == nil {
				return wrong(attribute, fmt.Sprintf(missingTexts[k], n))
			}
		}
	}
	return nil
}

var missingTexts = map[grid.Kind]string{
	grid.KindUserset: "Userset %q does not exist", grid.KindProject: "Project %q does not exist", grid.KindPE: "Parallel environment %q does not exist",
	grid.KindCkpt: "Ckpt %q does not exist", grid.KindCalendar: "Calendar %q does not exist", grid.KindHGroup: "denied: host group %q does not exist",
}

// all are an attribute's values: the general one and every exception's.
func all[T any](p grid.PerHost[T]) []T {
	out := []T{p.Value}
	for _, a := range p.At {
		out = append(out, a.Value)
	}
	return out
}

// bothLists refuses a user set that is let in and kept out at once.
func bothLists(noun, name string, in, out grid.Names) string {
	for _, n := range in {
		if out.Has(n) {
			return fmt.Sprintf("denied: multiple occurrences of userset %q in %s %q", n, noun, name)
		}
	}
	return ""
}

// badValues checks named values against the complex.
func (c *Core) badValues(lists ...grid.Values) string {
	for _, l := range lists {
		for _, v := range l {
			e := c.centry(v.Name)
			if e == nil {
				return fmt.Sprintf("denied: attribute %q is not a complex attribute", v.Name)
			}
			if e.Type.Numeric() {
				if _, ok := e.Type.Parse(v.Text); !ok {
					return fmt.Sprintf("denied: value %q of attribute %q is not a valid %s value", v.Text, v.Name, e.Type)
				}
			}
		}
	}
	return ""
}

// badCapacities checks complex_values against the complex: one cannot have less
// than nothing of a consumable, and resource maps are not for queues.
func (c *Core) badCapacities(lists ...grid.Values) string {
	for _, l := range lists {
		for _, v := range l {
			e := c.centry(v.Name)
			if e != nil && e.Type == grid.TypeMap {
				return fmt.Sprintf("denied: RSMAP complex %q can have values at execution hosts and host \"global\" only", e.Name)
			}
			if e != nil && e.Consumable != "NO" {
				if n, _ := e.Type.Parse(v.Text); n < 0 {
					return fmt.Sprintf("attribute %q is consumable but has a negative value", e.Name)
				}
			}
		}
	}
	return c.badValues(lists...)
}

// badMaps checks the resource maps in the complex_values of a host, and returns the
// values that are none.
func (c *Core) badMaps(values grid.Values) (others grid.Values, bad string) {
	for _, v := range values {
		e := c.centry(v.Name)
		if e == nil || e.Type != grid.TypeMap {
			others = append(others, v)
		} else if _, err := c.cluster.Complex().ParseMap(e.Name, v.Text); err != nil {
			return nil, err.Error()
		}
	}
	return others, ""
}

// centry finds a complex attribute by name or shortcut.
func (c *Core) centry(name string) *grid.Centry {
	if e := c.state.Centry(name); e != nil {
		return e
	}
	for _, e := range c.state.Centries() {
		if e.Shortcut == name {
			return e
		}
	}
	return nil
}

// validName refuses names that Grid Engine's objects can't have.
func validName(what, n string) string {
	if n == "" || strings.ContainsAny(n, " \t\n/:'\\[]{}|(),\"*?@") || grid.Printable(n) != n {
		return fmt.Sprintf("denied: %q is not a valid %s name", n, what)
	}
	return keyword(n)
}

// keyword refuses a name that is a keyword, sge_types(1) object_name.
func keyword(name string) string {
	switch word := strings.ToUpper(name); word {
	case "NONE", "ALL", "TEMPLATE":
		return fmt.Sprintf("Keyword (%q) not allowed as objectname", word)
	}
	return ""
}

// hostInUse keeps qmaster's host an admin host: from there a cell is set right.
func hostInUse(c *Core, _ gdi.Request, o grid.Object) string {
	if o.Key().Name == c.host {
		return fmt.Sprintf("denied: can't delete master host %q from admin host list", c.host)
	}
	return ""
}

func managerInUse(_ *Core, r gdi.Request, o grid.Object) string {
	if o.Key().Name == "root" {
		return fmt.Sprintf("may not remove user \"root\" from %s list", grid.SpecOf(o.Kind()).Noun)
	}
	return ""
}

// eachCQueue calls f for the cluster queues until it returns text.
func (c *Core) eachCQueue(f func(*grid.CQueue) string) string {
	for _, q := range c.state.CQueues() {
		if t := f(q); t != "" {
			return t
		}
	}
	return ""
}

// eachJob calls f for all jobs until it returns text.
func (c *Core) eachJob(f func(*grid.Job) string) (text string) {
	c.state.Each(grid.KindJob, func(o grid.Object) bool {
		text = f(o.(*grid.Job))
		return text == ""
	})
	return text
}

// all are the objects of a kind.
func (c *Core) all(k grid.Kind) []grid.Object {
	var out []grid.Object
	c.state.Each(k, func(o grid.Object) bool {
		out = append(out, o)
		return true
	})
	return out
}

// addMissing makes objects of kinds that come into being when first named.
func (c *Core) addMissing(o grid.Object) {
	if c.state.Get(o.Kind(), o.Key()) == nil {
		grid.SetVersion(o, 1)
		c.emit(events.Add(o))
	}
}
