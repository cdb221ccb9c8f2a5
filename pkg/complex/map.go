package complex

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Map is the value of an RSMAP attribute at an execution host or at "global":
// its instances in the order of the configuration, each id once.
type Map []Instance

// Instance is a unit of a resource map that is granted by name.
type Instance struct {
	ID     string
	Amount int         // how often it is listed: so many times it may be granted
	Traits grid.Values // its characteristics, as they are written
	Mask   string      // a topology string with the cores next to it in upper case; "": there is none
}

// Amount is how many units the map has.
func (m Map) Amount() (n int) {
	for i := range m {
		n += m[i].Amount
	}
	return n
}

// IDs lists the ids of the map, a shared one as often as it may be granted.
func (m Map) IDs() (out []string) {
	for i := range m {
		for range m[i].Amount {
			out = append(out, m[i].ID)
		}
	}
	return out
}

// mostInstances bounds a map: what 16 bits of port numbers need.
const mostInstances = 1 << 16

// ParseMap reads the value of an RSMAP attribute in complex_values: amount(id id ...),
// where an id is a word, a range of numbers n-m, or id[name=value,name=value]. An id that is
// listed again may be shared. What follows the last colon of an id is its mask, if it consists of the
// letters of topology strings. The error names the attribute, the id and what is
// wrong, for qconf to print.
func (x *Attributes) ParseMap(attribute, value string) (Map, error) {
	amount, list, found := strings.Cut(value, "(")
	number, err := strconv.ParseUint(amount, 10, 31)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the RSMAP value %q of %q does not begin with an amount", value, attribute)
	case !found && number > 0:
		return nil, fmt.Errorf("the RSMAP value %q needs to define IDs", value)
	case !found:
		return nil, nil
	case !strings.HasSuffix(list, ")"):
		return nil, fmt.Errorf("the RSMAP value %q of %q has no closing parenthesis", value, attribute)
	}
	p := mapParser{complex: x, attribute: attribute, at: map[string]int{}}
	if err := p.read(strings.TrimSuffix(list, ")")); err != nil {
		return nil, err
	}
	if p.listed != int(number) {
		return nil, fmt.Errorf("the RSMAP value is not equal to the amount of defined IDs %q", value)
	}
	return p.out, nil
}

// mapParser reads the ids of one map.
type mapParser struct {
	complex   *Attributes
	attribute string
	out       Map
	at        map[string]int // by id: its place in out
	listed    int
}

func (p *mapParser) read(list string) error {
	for list = strings.TrimLeft(list, " \t"); list != ""; list = strings.TrimLeft(list, " \t") {
		end := strings.IndexAny(list, " \t[")
		if end < 0 {
			end = len(list)
		}
		id, block := list[:end], ""
		list = list[end:]
		described := strings.HasPrefix(list, "[")
		if described {
			closed := strings.IndexByte(list, ']')
			if closed < 0 {
				return fmt.Errorf("RSMAP %q id %q has an unclosed characteristics block, expected ']'", p.attribute, id)
			}
			block, list = list[1:closed], list[closed+1:]
		}
		if err := p.add(id, block, described); err != nil {
			return err
		}
		if p.listed > mostInstances {
			return fmt.Errorf("RSMAP %q has more than %d ids", p.attribute, mostInstances)
		}
	}
	return nil
}

// add takes in one id or range.
func (p *mapParser) add(id, block string, described bool) error {
	first, last, isRange := numberRange(id)
	switch {
	case isRange && described:
		return fmt.Errorf("RSMAP %q range %q does not allow characteristics; list ids explicitly", p.attribute, id)
	case isRange && last < first:
		return fmt.Errorf("RSMAP %q range %q ends before it begins", p.attribute, id)
	case isRange && last-first >= mostInstances:
		return fmt.Errorf("RSMAP %q range %q has more than %d ids", p.attribute, id, mostInstances)
	case isRange:
		for n := first; n <= last; n++ {
			if err := p.put(strconv.FormatUint(n, 10), "", nil); err != nil {
				return err
			}
		}
		return nil
	case id == "" || strings.ContainsAny(id, ",=()[]|\"'`\\$") || grid.Printable(id) != id:
		return fmt.Errorf("RSMAP %q id %q is not valid", p.attribute, id)
	}
	mask := ""
	if i := strings.LastIndexByte(id, ':'); i > 0 && i+1 < len(id) && strings.Trim(id[i+1:], grid.TopologyLetters) == "" {
		id, mask = id[:i], id[i+1:]
		if !strings.ContainsAny(mask, "CcEe") {
			return fmt.Errorf("RSMAP %q id %q: topology mask %q has no core", p.attribute, id, mask)
		}
	}
	traits, err := p.traits(id, block, described)
	if err != nil {
		return err
	}
	return p.put(id, mask, traits)
}

// numberRange reads n-m.
func numberRange(id string) (first, last uint64, ok bool) {
	a, b, ok := strings.Cut(id, "-")
	if !ok {
		return 0, 0, false
	}
	first, err := strconv.ParseUint(a, 10, 32)
	if err == nil {
		last, err = strconv.ParseUint(b, 10, 32)
	}
	return first, last, err == nil
}

// put lists an id once, or once more.
func (p *mapParser) put(id, mask string, traits grid.Values) error {
	p.listed++
	i, known := p.at[id]
	if !known {
		p.at[id] = len(p.out)
		p.out = append(p.out, Instance{ID: id, Amount: 1, Traits: traits, Mask: mask})
		return nil
	}
	was, is := slices.Clone(p.out[i].Traits), slices.Clone(traits)
	grid.SortValues(was)
	grid.SortValues(is)
	if !slices.Equal(was, is) {
		return fmt.Errorf("RSMAP %q id %q is listed with different characteristics", p.attribute, id)
	}
	if p.out[i].Mask != mask {
		return fmt.Errorf("RSMAP %q id %q is listed with different topology masks", p.attribute, id)
	}
	p.out[i].Amount++
	return nil
}

// traits reads the characteristics of an id. Each is an attribute of the complex, whose type
// its value has.
func (p *mapParser) traits(id, block string, described bool) (out grid.Values, err error) {
	if !described {
		return nil, nil
	}
	for _, text := range strings.Split(block, ",") {
		text = strings.TrimSpace(text)
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" || value == "" || strings.ContainsAny(value, "=([ \t") || strings.ContainsAny(name, "([ \t") {
			return nil, fmt.Errorf("RSMAP %q id %q has malformed characteristic %q, expected name=value", p.attribute, id, text)
		}
		a := p.complex.Lookup(name)
		if a == nil || a.Type == grid.TypeMap {
			return nil, fmt.Errorf("RSMAP %q id %q: characteristic %q is not a defined complex", p.attribute, id, name)
		}
		if _, twice := out.Get(a.Name); twice {
			return nil, fmt.Errorf("RSMAP %q id %q: characteristic %q is set more than once", p.attribute, id, name)
		}
		if _, ok := a.Type.Parse(value); !ok && a.Type.Numeric() {
			return nil, fmt.Errorf("RSMAP %q id %q: characteristic %q value cannot be parsed: %q is not a %s value", p.attribute,
				id, name, value, a.Type.Word())
		}
		if err := checkDevices(a.Name, value); err != nil {
			return nil, fmt.Errorf("RSMAP %q id %q: characteristic %q value cannot be parsed: %w", p.attribute, id, name, err)
		}
		out = append(out, grid.Value{Name: a.Name, Text: value})
	}
	return out, nil
}
