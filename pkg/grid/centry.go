package grid

import (
	"math"
	"strings"
)

// Resources are the resource attributes of a cell.
type Resources interface {
	// Centry returns the attribute of a name, nil when there is none.
	Centry(name string) *Centry
	// Centries returns all attributes, by name.
	Centries() []*Centry
}

// Centry is an attribute of the complex, complex(5).
type Centry struct {
	Name        string     `conf:"name" see:"keep"`
	Shortcut    string     `conf:"shortcut" see:"keep"`
	Type        CentryType `conf:"type" see:"keep"`
	Relop       Relop      `conf:"relop" see:"keep"`
	Requestable string     `conf:"requestable" see:"keep"` // YES, NO, FORCED
	Consumable  string     `conf:"consumable" see:"keep"`  // YES, NO, JOB, HOST
	Default     string     `conf:"default" see:"keep"`
	Urgency     string     `conf:"urgency" see:"keep"`
	Version     uint32     `conf:"-"`
}

func (*Centry) Kind() Kind { return KindCentry }
func (c *Centry) Key() Key { return Key{Name: c.Name} }

// CentryType is an attribute's type: INT DOUBLE STRING CSTRING RESTRING HOST
// BOOL TIME MEMORY RSMAP.
type CentryType string

// TypeMap is the type of a resource map: a consumable whose units are named
// instances. As a number it is how many of them.
const TypeMap CentryType = "RSMAP"

// Relop is an attribute's relational operator: == != >= > <= < EXCL.
type Relop string

// Numeric reports whether values of the type are compared as numbers.
func (t CentryType) Numeric() bool {
	switch t {
	case "INT", "DOUBLE", "BOOL", "TIME", "MEMORY", TypeMap:
		return true
	}
	return false
}

// Text reports whether values of the type are texts that are compared with patterns: the type of such an attribute
// may become another one of these.
func (t CentryType) Text() bool { return t == "STRING" || t == "CSTRING" || t == "RESTRING" }

// Parse returns the number that text stands for in a numeric type; ok is
// false when it is no value of the type. As in Grid Engine TRUE and FALSE are
// 1 and 0 in every numeric type, and an INT can have a fraction; only the instances of a
// resource map are counted.
func (t CentryType) Parse(text string) (v float64, ok bool) {
	switch t {
	case "INT", TypeMap, "DOUBLE":
		v, ok = ParseMemory(strings.TrimPrefix(text, "-"))
		if ok && strings.HasPrefix(text, "-") {
			v = 0 - v
		}
		ok = ok && (t != TypeMap || v == math.Trunc(v))
	case "BOOL":
		switch strings.ToLower(text) {
		case "t", "yes", "y", "1":
			return 1, true
		case "f", "no", "n", "0":
			return 0, true
		}
	case "TIME":
		if v, ok = ParseTimeSpan(text); !ok {
			v, ok = ParseMemory(text)
		}
	case "MEMORY":
		v, ok = ParseMemory(text)
	}
	if !ok && t.Numeric() {
		switch strings.ToUpper(text) {
		case "TRUE":
			return 1, true
		case "FALSE":
			return 0, true
		}
		return 0, false
	}
	return v, ok
}

// Word is a numeric type as refusals call it.
func (t CentryType) Word() string {
	switch t {
	case "BOOL":
		return "boolean"
	case "INT", TypeMap:
		return "integer"
	}
	return strings.ToLower(string(t))
}
