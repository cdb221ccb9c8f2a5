package complex

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Formula is a load_formula, sched_conf(5): terms joined by + and -, each a
// number or an attribute, or two of them joined by one of * / & | ^.
type Formula struct {
	text  string
	terms []formulaTerm
}

type formulaTerm struct {
	negative bool
	op       byte // 0: x alone
	x, y     operand
}

type operand struct {
	attr   int // -1: a number
	number float64
}

// ParseFormula reads a formula; the empty text and NONE are the default,
// np_load_avg. A second operator in a term is an error, as is an attribute
// that the complex does not have.
func ParseFormula(x *Attributes, text string) (Formula, error) {
	text = strings.TrimSpace(text)
	if text == "" || strings.EqualFold(text, "none") {
		text = "np_load_avg"
	}
	f := Formula{text: text}
	rest, negative := strings.ReplaceAll(text, " ", ""), false
	for first := true; rest != ""; first = false {
		switch rest[0] {
		case '+', '-':
			negative, rest = rest[0] == '-', rest[1:]
		default:
			if !first {
				return f, fmt.Errorf("load_formula: unexpected %q", rest)
			}
		}
		end := strings.IndexAny(rest, "+-")
		if end < 0 {
			end = len(rest)
		}
		t, err := x.term(rest[:end])
		if err != nil {
			return f, err
		}
		t.negative = negative
		f.terms = append(f.terms, t)
		rest = rest[end:]
	}
	return f, nil
}

func (x *Attributes) term(text string) (t formulaTerm, err error) {
	i := strings.IndexAny(text, "*/&|^")
	if i < 0 {
		t.x, err = x.operand(text)
		return t, err
	}
	t.op = text[i]
	if t.x, err = x.operand(text[:i]); err != nil {
		return t, err
	}
	t.y, err = x.operand(text[i+1:])
	return t, err
}

func (x *Attributes) operand(text string) (operand, error) {
	text = strings.TrimPrefix(text, "$")
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return operand{-1, n}, nil
	}
	if i := x.Find(text); i >= 0 {
		return operand{attr: i}, nil
	}
	return operand{}, fmt.Errorf("load_formula: unknown attribute %q", text)
}

// String is the formula as it was written.
func (f Formula) String() string { return f.text }

// Names reports whether an attribute stands in a formula that was read with x.
func (f Formula) Names(x *Attributes, attribute string) bool {
	i := x.Find(attribute)
	return i >= 0 && slices.ContainsFunc(f.terms, func(t formulaTerm) bool {
		return t.x.attr == i || t.op != 0 && t.y.attr == i
	})
}

// Value computes the formula; a missing value makes it the largest possible,
// so that the host sorts last.
func (f Formula) Value(of func(attr int) (float64, bool)) float64 {
	get := func(o operand) (float64, bool) {
		if o.attr < 0 {
			return o.number, true
		}
		return of(o.attr)
	}
	sum := 0.0
	for _, t := range f.terms {
		v, ok := get(t.x)
		if ok && t.op != 0 {
			var y float64
			if y, ok = get(t.y); ok {
				v, ok = apply(t.op, v, y)
			}
		}
		if !ok {
			return Unlimited
		}
		if t.negative {
			v = -v
		}
		sum += v
	}
	return sum
}

func apply(op byte, x, y float64) (float64, bool) {
	switch op {
	case '*':
		return x * y, true
	case '/':
		return x / y, y != 0
	case '&':
		return float64(uint32(x) & uint32(y)), true
	case '|':
		return float64(uint32(x) | uint32(y)), true
	}
	return float64(uint32(x) ^ uint32(y)), true
}
