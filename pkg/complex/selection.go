package complex

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
)

// Selection is what a request asks of the instances of a resource map, complex(5):
// gpu=2[gpu_memory>=40G,model=A100*] asks for two that meet both conditions.
type Selection struct {
	conditions []traitCondition
	none       bool
}

// traitCondition is held against one characteristic of an instance. An instance without the
// characteristic does not meet it.
type traitCondition struct {
	attr   *Attribute
	relop  grid.Relop // between the value of the instance and the one asked for
	word   string     // as it is written: "=" takes the relation of the complex
	text   string
	number float64
	expr   pattern.Expression
}

// relops are how a condition is written; those that begin with another one stand before it.
var relops = [...]grid.Relop{"==", "!=", ">=", "<=", "=", ">", "<"}

// Selection reads the characteristics of a request for instances of a resource map, in brackets; nil
// when nothing is written. The error is what qsub prints.
func (x *Attributes) Selection(resource, block string) (*Selection, error) {
	if block == "" {
		return nil, nil
	}
	inner, closed := strings.CutSuffix(block[1:], "]")
	if !closed || grid.ClosingBracket(block) != len(block)-1 {
		return nil, fmt.Errorf("RSMAP %q request %q has an unclosed characteristics block, expected ']'", resource, block)
	}
	s := &Selection{}
	for _, text := range grid.CutOutside(inner, func(r rune) bool { return r == ',' }) {
		k, err := x.traitCondition(resource, strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		s.conditions = append(s.conditions, k)
	}
	return s, nil
}

func (x *Attributes) traitCondition(resource, text string) (k traitCondition, err error) {
	at := strings.IndexAny(text, "=!<>")
	if at > 0 {
		k.word = string(relops[max(slices.IndexFunc(relops[:], func(r grid.Relop) bool {
			return strings.HasPrefix(text[at:], string(r))
		}), 0)])
	}
	name, value, ok := strings.Cut(text, k.word)
	if k.text = strings.TrimSpace(value); at <= 0 || !ok || k.text == "" || k.text[0] == '=' ||
		strings.ContainsAny(k.text, " \t") {
		return k,
			fmt.Errorf("RSMAP %q request has malformed characteristic %q, expected name=value or one of == != >= <= > <",
				resource, text)
	}
	name = strings.TrimSpace(name)
	i := x.Find(name)
	if i < 0 || x.List[i].Type == grid.TypeMap {
		return k, fmt.Errorf("RSMAP %q request: characteristic %q is not a defined complex", resource, name)
	}
	k.attr = &x.List[i]
	if k.attr.Requestable == "NO" {
		return k, fmt.Errorf("RSMAP %q request: characteristic %q is configured as non requestable", resource, k.attr.Name)
	}
	k.relop = grid.Relop(k.word)
	if k.word == "=" {
		k.relop = turned[k.attr.Relop]
	}
	ordered := k.relop != "==" && k.relop != "!="
	if ordered && (!k.attr.Numeric || k.attr.Type == "BOOL") {
		return k, fmt.Errorf("RSMAP %q request: characteristic %q of type %s cannot be compared by %q", resource, k.attr.Name,
			k.attr.Type, k.word)
	}
	if !k.attr.Numeric {
		k.expr = pattern.Compile(k.text, k.attr.foldCase)
		return k, nil
	}
	if k.number, ok = k.attr.Type.Parse(k.text); !ok {
		return k, fmt.Errorf("RSMAP %q request: characteristic %q value cannot be parsed: %q is not a %s value", resource,
			k.attr.Name, k.text, k.attr.Type.Word())
	}
	return k, nil
}

// turned has for "request relop value" the relation between value and request.
var turned = map[grid.Relop]grid.Relop{"==": "==", "!=": "!=", "EXCL": "==", "<=": ">=", "<": ">", ">=": "<=", ">": "<"}

// String returns the conditions as they are stored in a request, without brackets.
func (s *Selection) String() string {
	words := make([]string, len(s.conditions))
	for i, k := range s.conditions {
		words[i] = k.attr.Name + k.word + k.text
	}
	return strings.Join(words, ",")
}

// SelectNone returns the selection of no instance.
func SelectNone() *Selection { return &Selection{none: true} }

// And returns the selection of what both select; nil selects all.
func (s *Selection) And(o *Selection) *Selection {
	switch {
	case s == nil:
		return o
	case o == nil:
		return s
	}
	return &Selection{append(slices.Clone(s.conditions), o.conditions...), s.none || o.none}
}

// Has reports whether an instance is selected.
func (s *Selection) Has(in *Instance) bool {
	if s == nil {
		return true
	}
	if s.none {
		return false
	}
	for i := range s.conditions {
		k := &s.conditions[i]
		text, known := in.Traits.Get(k.attr.Name)
		if !known || !k.meets(text) {
			return false
		}
	}
	return true
}

func (k *traitCondition) meets(text string) bool {
	if !k.attr.Numeric {
		return k.expr.Match(text) == (k.relop == "==")
	}
	v, ok := k.attr.Type.Parse(text)
	return ok && compare(k.relop, v, k.number)
}

// Selected returns how many units of the map are selected.
func (m Map) Selected(s *Selection) (n int) {
	for i := range m {
		if s.Has(&m[i]) {
			n += m[i].Amount
		}
	}
	return n
}

// Names reports whether a request for instances names an attribute as characteristic.
func (x *Attributes) Names(r grid.Request, characteristic string) bool {
	at := strings.IndexByte(r.Value, '[')
	if a := x.Lookup(r.Name); at < 0 || a == nil || a.Type != grid.TypeMap {
		return false
	}
	s, err := x.Selection(r.Name, r.Value[at:])
	return err == nil && slices.ContainsFunc(s.conditions, func(k traitCondition) bool {
		return k.attr.Name == characteristic
	})
}
