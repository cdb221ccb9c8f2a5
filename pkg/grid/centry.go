package grid

import (
	"strconv"
	"strings"
)

// Centry is an attribute of the complex, complex(5).
type Centry struct {
	Name        string     `conf:"name"`
	Shortcut    string     `conf:"shortcut"`
	Type        CentryType `conf:"type"`
	Relop       Relop      `conf:"relop"`
	Requestable string     `conf:"requestable"` // YES, NO, FORCED
	Consumable  string     `conf:"consumable"`  // YES, NO, JOB, HOST
	Default     string     `conf:"default"`
	Urgency     string     `conf:"urgency"`
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

// Parse returns the number that text stands for in a numeric type; ok is
// false when it is no value of the type.
func (t CentryType) Parse(text string) (v float64, ok bool) {
	switch t {
	case "INT", TypeMap:
		if n, ok := ParseMemory(strings.TrimPrefix(text, "-")); ok {
			if strings.HasPrefix(text, "-") {
				n = -n
			}
			return n, n == float64(int64(n))
		}
		return 0, false
	case "DOUBLE":
		if strings.EqualFold(text, "INFINITY") {
			return Infinity, true
		}
		v, err := strconv.ParseFloat(text, 64)
		return v, err == nil
	case "BOOL":
		switch strings.ToLower(text) {
		case "true", "t", "yes", "y", "1":
			return 1, true
		case "false", "f", "no", "n", "0":
			return 0, true
		}
		return 0, false
	case "TIME":
		return ParseTimeSpan(text)
	case "MEMORY":
		return ParseMemory(text)
	}
	return 0, false
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
