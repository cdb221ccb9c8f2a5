package validate

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// kindRules are the checks of a kind of configuration objects, besides those of its type. A nil function means that
// there is nothing to check.
type kindRules struct {
	// complete sets what qmaster alone may say in a new version of an object.
	complete func(*cell.Cell, grid.Object)
	// valid returns what is wrong with a new version of an object.
	valid func(*cell.Cell, grid.Object) string
	// refers returns which attribute of a new version of an object names what there is not, and its values that do not
	// suit.
	refers func(*cell.Cell, grid.Object) *gdi.Answer
	// together returns why an object cannot exist with others of its kind, of which it
	// may be one.
	together func(o grid.Object, all []grid.Object) string
	// inUse returns why an object can't be removed.
	inUse func(*cell.Cell, grid.Object) string
	// warn returns what of a new version of an object has no effect; old is nil for a
	// new object.
	warn func(old, new grid.Object) []string
}

// rulesOf returns the rules of a kind.
func rulesOf(k grid.Kind) kindRules {
	switch k {
	case grid.KindCQueue:
		return kindRules{valid: validCQueue, refers: cqueueRefers, inUse: cqueueInUse}
	case grid.KindHGroup:
		return kindRules{valid: validHGroup, refers: hgroupRefers, inUse: hgroupInUse}
	case grid.KindExecHost:
		return kindRules{valid: validExecHost, refers: execHostRefers, inUse: execHostInUse}
	case grid.KindPE:
		return kindRules{valid: validPE, refers: peRefers, warn: peWithoutEffect, inUse: peInUse}
	case grid.KindCkpt:
		return kindRules{valid: validCkpt, inUse: ckptInUse}
	case grid.KindCalendar:
		return kindRules{valid: validCalendar, inUse: calendarInUse}
	case grid.KindCentry:
		return kindRules{complete: completeCentry, valid: validCentry, together: centryTwice, inUse: centryInUse}
	case grid.KindUserset:
		return kindRules{valid: validUserset, inUse: usersetInUse}
	case grid.KindProject:
		return kindRules{valid: validProject, refers: projectRefers, inUse: projectInUse}
	case grid.KindUser:
		return kindRules{refers: userRefers, inUse: userInUse}
	case grid.KindManager, grid.KindOperator:
		return kindRules{inUse: managerInUse}
	case grid.KindAdminHost:
		return kindRules{inUse: hostInUse}
	case grid.KindConf:
		return kindRules{valid: validConf, refers: confRefers, warn: confWithoutEffect, inUse: confInUse}
	case grid.KindSchedConf:
		return kindRules{valid: validSchedConf, refers: schedConfRefers, inUse: schedConfInUse}
	case grid.KindRQS:
		return kindRules{valid: validRQS}
	case grid.KindShareTree:
		return kindRules{complete: completeShareTree, valid: validShareTree}
	}
	return kindRules{}
}

// Object sets what qmaster alone may say in a new version of an object, and returns why the object is refused; nil
// when it is not.
func Object(c *cell.Cell, o grid.Object) (refusal *gdi.Answer) {
	r := rulesOf(o.Kind())
	if r.complete != nil {
		r.complete(c, o)
	}
	if r.valid != nil {
		refusal = gdi.Invalid("", r.valid(c, o))
	}
	if refusal == nil && r.refers != nil {
		refusal = r.refers(c, o)
	}
	return refusal
}

// WhyInUse returns why an object can't be removed, "" when it can.
func WhyInUse(c *cell.Cell, o grid.Object) string {
	if r := rulesOf(o.Kind()); r.inUse != nil {
		return cmp.Or(r.inUse(c, o), heldByAR(c, o))
	}
	return heldByAR(c, o)
}

// WhyClash returns why an object cannot exist together with the others of its kind, "" when it can.
func WhyClash(c *cell.Cell, o grid.Object) string {
	together := rulesOf(o.Kind()).together
	if together == nil {
		return ""
	}
	all := []grid.Object{o}
	c.State.Each(o.Kind(), func(other grid.Object) bool {
		if other.Key() != o.Key() {
			all = append(all, other)
		}
		return true
	})
	return together(o, all)
}

// WithoutEffect returns what of a new version of an object has no effect; old is nil for a new object.
func WithoutEffect(old, new grid.Object) []string {
	if r := rulesOf(new.Kind()); r.warn != nil {
		return r.warn(old, new)
	}
	return nil
}

func schedConfInUse(*cell.Cell, grid.Object) string {
	return "denied: the scheduler configuration can't be deleted"
}

// missing refuses an attribute that names an object of a kind which does not exist.
func missing(c *cell.Cell, attribute string, k grid.Kind, lists ...grid.Names) *gdi.Answer {
	for _, names := range lists {
		for _, n := range names {
			if n != "" && c.State.Get(k, grid.Key{Name: n}) == nil {
				refusal := gdi.Invalid(attribute, fmt.Sprintf(missingTexts[k], n))
				refusal.Hint = suggest(c, k, n)
				return refusal
			}
		}
	}
	return nil
}

var missingTexts = map[grid.Kind]string{
	grid.KindUserset: "Userset %q does not exist", grid.KindProject: "Project %q does not exist",
	grid.KindPE:   "Parallel environment %q does not exist",
	grid.KindCkpt: "Ckpt %q does not exist", grid.KindCalendar: "Calendar %q does not exist",
	grid.KindHGroup: "denied: host group %q does not exist",
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
func badValues(c *cell.Cell, lists ...grid.Values) string {
	for _, l := range lists {
		for _, v := range l {
			e := c.Centry(v.Name)
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
func badCapacities(c *cell.Cell, lists ...grid.Values) string {
	for _, l := range lists {
		for _, v := range l {
			e := c.Centry(v.Name)
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
	return badValues(c, lists...)
}

// badMaps checks the resource maps in the complex_values of a host, and returns the
// values that are none.
func badMaps(c *cell.Cell, values grid.Values) (others grid.Values, bad string) {
	for _, v := range values {
		e := c.Centry(v.Name)
		if e == nil || e.Type != grid.TypeMap {
			others = append(others, v)
		} else if _, err := c.Cluster.Complex().ParseMap(e.Name, v.Text); err != nil {
			return nil, err.Error()
		}
	}
	return others, ""
}

// Name refuses names that Grid Engine's objects can't have.
func Name(what, n string) string {
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
func hostInUse(c *cell.Cell, o grid.Object) string {
	if o.Key().Name == c.Host {
		return fmt.Sprintf("denied: can't delete master host %q from admin host list", c.Host)
	}
	return ""
}

func managerInUse(_ *cell.Cell, o grid.Object) string {
	if o.Key().Name == "root" {
		return fmt.Sprintf("may not remove user \"root\" from %s list", grid.SpecOf(o.Kind()).Noun)
	}
	return ""
}
