package validate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/complex"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// completeCentry keeps what slots are, whatever a file says: they are counted, one for each slot.
func completeCentry(_ *cell.Cell, o grid.Object) {
	if e := o.(*grid.Centry); e.Name == "slots" && e.Type == "INT" && e.Consumable != "HOST" {
		e.Relop, e.Consumable, e.Default = "<=", "YES", "1"
		if e.Requestable == "NO" {
			e.Requestable = "YES"
		}
	}
}

// validCentry holds an attribute against the rules of complex(5).
func validCentry(c *cell.Cell, o grid.Object) string {
	e := o.(*grid.Centry)
	if t := Name("attribute", e.Name); t != "" {
		return t
	}
	if old := c.State.Centry(e.Name); old != nil && builtin.Has(e.Name) && old.Type != e.Type &&
		!(old.Type.Text() && e.Type.Text()) {
		return fmt.Sprintf("The type of the complex %q cannot be changed due to its built in status", e.Name)
	}
	return cmp.Or(badRelop(e), badRequestable(e), badConsumable(e), badDefault(e), badUrgency(e), mapInUse(c, e))
}

// mapInUse refuses to make something else of a resource map, or one of something else, while
// values or jobs name it: what was granted of it could not be counted any more. What
// instances have as characteristic keeps its type.
func mapInUse(c *cell.Cell, e *grid.Centry) string {
	old := c.State.Centry(e.Name)
	if old == nil || old.Type == e.Type && old.Consumable == e.Consumable {
		return ""
	}
	if old.Type == grid.TypeMap || e.Type == grid.TypeMap {
		return centryNamed(c, old)
	}
	for _, h := range c.State.ExecHosts() {
		if old.Type != e.Type && describes(c, old, h.ComplexValues) {
			return fmt.Sprintf("denied: Complex attribute %q is still referenced in host %q.", e.Name, h.Name)
		}
	}
	if algorithmNeeds(c, old, e) {
		return namedBySchedConf(e)
	}
	return ""
}

// centryTwice refuses a name or shortcut that another attribute has.
func centryTwice(o grid.Object, all []grid.Object) string {
	e := o.(*grid.Centry)
	for _, o := range all {
		if o := o.(*grid.Centry); o.Name != e.Name &&
			(o.Shortcut == e.Shortcut || o.Name == e.Shortcut || o.Shortcut == e.Name) {
			return fmt.Sprintf("complex with name %s or shortcut %s already exists", e.Name, e.Shortcut)
		}
	}
	return ""
}

// badRelop: only what has an order is compared by it.
func badRelop(e *grid.Centry) string {
	ordered, known := false, true
	switch e.Type {
	case "INT", "DOUBLE", "TIME", "MEMORY", grid.TypeMap:
		ordered = true
	case "STRING", "CSTRING", "RESTRING", "HOST", "BOOL":
	default:
		return fmt.Sprintf("unknown complex attribute type %q", e.Type)
	}
	switch e.Relop {
	case "==", "!=":
	case ">=", ">", "<=", "<":
		known = ordered
	case "EXCL":
		if e.Type != "BOOL" {
			return fmt.Sprintf("Complex %q must be BOOL to use EXCL as relational operator", e.Name)
		}
	default:
		known = false
	}
	if !known {
		return fmt.Sprintf("Complex %q has an invalid relational operator", e.Name)
	}
	return ""
}

func badRequestable(e *grid.Centry) string {
	switch e.Requestable {
	case "YES", "NO", "FORCED":
		return ""
	}
	return fmt.Sprintf("unknown value %q for requestable of attribute %q", e.Requestable, e.Name)
}

func badConsumable(e *grid.Centry) string {
	switch e.Consumable {
	case "NO":
		switch {
		case e.Type == grid.TypeMap:
			return fmt.Sprintf("RSMAP complex %q needs to be a consumable", e.Name)
		case e.Relop == "EXCL":
			return fmt.Sprintf("Exclusive complex %q must be a consumable", e.Name)
		case nonZero(e) || !e.Type.Numeric() && !strings.EqualFold(e.Default, "NONE"):
			return fmt.Sprintf("Complex %q cannot have a (non-zero) default value", e.Name)
		}
		return ""
	case "YES", "JOB", "HOST":
	default:
		return fmt.Sprintf("unknown value %q for consumable of attribute %q", e.Consumable, e.Name)
	}
	switch {
	case e.Consumable == "HOST" && (e.Name == "slots" || e.Relop == "EXCL"):
		return fmt.Sprintf("Complex %q cannot be consumed per host", e.Name)
	case !e.Type.Numeric():
		return fmt.Sprintf("Complex %q of type %q cannot be a consumable", e.Name, e.Type)
	case e.Type == "BOOL" && e.Relop != "EXCL":
		return fmt.Sprintf("Exclusive complex %q must have EXCL as relational operator", e.Name)
	case e.Type != "BOOL" && e.Relop != "<=":
		return fmt.Sprintf("Consumable %q can have only <= as an relational operator", e.Name)
	case e.Requestable == "FORCED" && nonZero(e):
		return fmt.Sprintf("Consumable %q cannot have a (non-zero) default value because it is forced.", e.Name)
	case e.Requestable == "NO" && !nonZero(e):
		return fmt.Sprintf("Consumable %q needs a default value because it is not requestable.", e.Name)
	}
	return ""
}

func badDefault(e *grid.Centry) string {
	if _, ok := e.Type.Parse(e.Default); ok || !e.Type.Numeric() || e.Default == "NONE" {
		return ""
	}
	kind := map[grid.CentryType]string{"INT": "integer", "DOUBLE": "double", "BOOL": "boolean", "TIME": "time",
		"MEMORY": "memory", grid.TypeMap: "integer"}[e.Type]
	return fmt.Sprintf("Complex %q's default value should be of type \"%s value\"", e.Name, kind)
}

func badUrgency(e *grid.Centry) string {
	if _, err := strconv.ParseFloat(e.Urgency, 64); err != nil {
		return fmt.Sprintf("The following error occurred for complex %q, while parsing the urgency value: \"double value\"",
			e.Name)
	}
	return ""
}

func nonZero(e *grid.Centry) bool {
	v, _ := e.Type.Parse(e.Default)
	return v != 0
}

// builtin are the attributes of a new cell: they keep their types, and cannot be
// deleted but for grid.OwnCentries.
var builtin = func() (names grid.Names) {
	for _, e := range grid.DefaultCentries() {
		names = append(names, e.Name)
	}
	return names
}()

// centryInUse returns who still names an attribute, by name or by shortcut.
func centryInUse(c *cell.Cell, o grid.Object) string {
	e := o.(*grid.Centry)
	if builtin.Has(e.Name) && !grid.OwnCentries.Has(e.Name) {
		return fmt.Sprintf("The built-in complex %q cannot be deleted", e.Name)
	}
	return centryNamed(c, e)
}

func namedBySchedConf(e *grid.Centry) string {
	return fmt.Sprintf("denied: Complex attribute %q is still referenced in scheduler configuration.", e.Name)
}

// centryNamed returns which object names an attribute.
func centryNamed(c *cell.Cell, e *grid.Centry) string {
	in := func(values ...grid.Values) bool {
		return slices.ContainsFunc(values, func(v grid.Values) bool {
			_, long := v.Get(e.Name)
			_, short := v.Get(e.Shortcut)
			return long || short
		})
	}
	for _, h := range c.State.ExecHosts() {
		if in(h.ComplexValues, h.LoadScaling) || describes(c, e, h.ComplexValues) {
			return fmt.Sprintf("denied: Complex attribute %q is still referenced in host %q.", e.Name, h.Name)
		}
	}
	conf := c.State.SchedConf()
	if in(conf.JobLoadAdjustments) || formulaNames(c, conf.LoadFormula, e) || algorithmNeeds(c, e, nil) {
		return namedBySchedConf(e)
	}
	return cmp.Or(
		quotaNames(c, e),
		c.EachCQueue(func(q *grid.CQueue) string {
			if in(slices.Concat(cell.AllValues(q.ComplexValues), cell.AllValues(q.LoadThresholds),
				cell.AllValues(q.SuspendThresholds))...) {
				return fmt.Sprintf("denied: Complex attribute %q is still referenced in queue %q.", e.Name, q.Name)
			}
			return ""
		}),
		c.EachJob(func(j *grid.Job) string {
			_, soft := j.Soft.Get(e.Name)
			asks := slices.ContainsFunc(slices.Concat(j.Hard, j.MasterHard, j.SlaveHard),
				func(r grid.Request) bool { return c.Cluster.Complex().Names(r, e.Name) })
			if j.Requests(e.Name) || soft || asks {
				return fmt.Sprintf("denied: Complex attribute %q is still referenced in job %d.", e.Name, j.ID)
			}
			return ""
		}))
}

// describes reports whether instances of resource maps have an attribute as characteristic.
func describes(c *cell.Cell, e *grid.Centry, values grid.Values) bool {
	for _, v := range values {
		a := c.Centry(v.Name)
		if a == nil || a.Type != grid.TypeMap {
			continue
		}
		m, _ := c.Cluster.Complex().ParseMap(a.Name, v.Text)
		if slices.ContainsFunc(m, func(i complex.Instance) bool { _, has := i.Traits.Get(e.Name); return has }) {
			return true
		}
	}
	return false
}

// formulaNames reports whether a load formula names an attribute.
func formulaNames(c *cell.Cell, formula string, e *grid.Centry) bool {
	f, err := complex.ParseFormula(c.Cluster.Complex(), formula)
	return err == nil && f.Names(c.Cluster.Complex(), e.Name)
}
