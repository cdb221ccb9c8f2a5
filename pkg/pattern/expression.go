package pattern

import (
	"slices"
	"strings"
)

// Expression is a compiled resource or name pattern, sge_types(1): wildcards
// * ? [...] combined with ! & | and parentheses. The zero value matches
// nothing but the empty text.
type Expression struct {
	text string
	fold bool // compare without case: CSTRING and HOST
	root *term
}

// term is a node of an expression: one pattern, or an operator over others.
type term struct {
	op      byte // 0 for a pattern, else ! & |
	pattern string
	plain   bool            // the pattern has no wildcard
	of      []*term         // of !: one
	names   map[string]bool // of |: plain patterns besides, of which there may be thousands
}

// Compile reads an expression. A text that is no proper expression (an open
// parenthesis, nothing after an operator) stands for itself, literally.
func Compile(text string, fold bool) Expression {
	e := Expression{text: text, fold: fold}
	source := text
	if fold {
		source = strings.ToLower(text)
	}
	if !strings.ContainsAny(source, "*?[!&|()") {
		e.root = &term{pattern: source, plain: true}
		return e
	}
	p := parser{rest: source, size: len(source), closed: strings.LastIndexByte(source, ']')}
	e.root = p.or()
	if p.failed || p.rest != "" {
		e.root = &term{pattern: source, plain: true}
	}
	return e
}

// Plain reports whether the expression is one name without any wildcard.
func (e Expression) Plain() bool { return e.root == nil || (e.root.op == 0 && e.root.plain) }

// String is the expression as it was written.
func (e Expression) String() string { return e.text }

// Match reports whether the text is among those that the expression describes.
func (e Expression) Match(text string) bool {
	if e.root == nil {
		return text == ""
	}
	if e.fold {
		text = strings.ToLower(text)
	}
	return e.root.match(text)
}

func (t *term) match(s string) bool {
	switch t.op {
	case '!':
		return !t.of[0].match(s)
	case '&':
		return !slices.ContainsFunc(t.of, func(o *term) bool { return !o.match(s) })
	case '|':
		return t.names[s] || slices.ContainsFunc(t.of, func(o *term) bool { return o.match(s) })
	}
	if t.plain {
		return t.pattern == s
	}
	return wild(t.pattern, s)
}

// parser reads or = and {"|" and}, and = not {"&" not}, not = "!" not | "("
// or ")" | pattern.
type parser struct {
	rest   string
	size   int // of the whole text
	closed int // where its last ] is
	depth  int
	failed bool
}

// deepest is how deep an expression may be nested. A deeper one is none.
const deepest = 100

func (p *parser) or() *term {
	t := &term{op: '|', of: []*term{p.and()}}
	for p.takeByte('|') {
		t.of = append(t.of, p.and())
	}
	if len(t.of) == 1 {
		return t.of[0]
	}
	t.names = make(map[string]bool)
	t.of = slices.DeleteFunc(t.of, func(o *term) bool {
		name := o.op == 0 && o.plain
		if name {
			t.names[o.pattern] = true
		}
		return name
	})
	return t
}

func (p *parser) and() *term {
	t := &term{op: '&', of: []*term{p.not()}}
	for p.takeByte('&') {
		t.of = append(t.of, p.not())
	}
	if len(t.of) == 1 {
		return t.of[0]
	}
	return t
}

func (p *parser) not() *term {
	if p.depth++; p.depth > deepest {
		p.failed = true
		return p.name()
	}
	defer func() { p.depth-- }()
	if p.takeByte('!') {
		return &term{op: '!', of: []*term{p.not()}}
	}
	if p.takeByte('(') {
		t := p.or()
		p.failed = p.failed || !p.takeByte(')')
		return t
	}
	return p.name()
}

// name reads a pattern up to the next operator; inside [...] nothing is one.
func (p *parser) name() *term {
	end, bracket := 0, false
	for ; end < len(p.rest); end++ {
		switch c := p.rest[end]; {
		case bracket:
			bracket = c != ']'
		case c == '[':
			bracket = p.closed > p.size-len(p.rest)+end
		}
		if !bracket && strings.IndexByte("!&|()", p.rest[end]) >= 0 {
			break
		}
	}
	t := &term{pattern: strings.TrimSpace(p.rest[:end])}
	t.plain = !strings.ContainsAny(t.pattern, "*?[")
	p.failed = p.failed || end == 0
	p.rest = p.rest[end:]
	return t
}

func (p *parser) takeByte(c byte) bool {
	p.rest = strings.TrimLeft(p.rest, " ")
	if p.rest != "" && p.rest[0] == c {
		p.rest = p.rest[1:]
		return true
	}
	return false
}

// Match reports whether the text matches a pattern with * ? and [...], as shells
// match file names; / and leading dots are characters like all others.
func Match(pattern, text string) bool {
	if !strings.ContainsAny(pattern, "*?[") {
		return pattern == text
	}
	return wild(pattern, text)
}

func wild(p, s string) bool {
	star, mark := -1, 0 // where the last * was, and what it has swallowed
	i, j := 0, 0
	for j < len(s) {
		if i < len(p) {
			switch p[i] {
			case '*':
				star, mark = i, j
				i++
				continue
			case '?':
				i, j = i+1, j+1
				continue
			case '[':
				if n, ok := class(p[i:], s[j]); n > 0 {
					if ok {
						i, j = i+n, j+1
						continue
					}
					break
				}
				fallthrough
			default:
				if p[i] == s[j] {
					i, j = i+1, j+1
					continue
				}
			}
		}
		if star < 0 {
			return false
		}
		mark++
		i, j = star+1, mark
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}

// class reads [abc], [a-z], [!a]; n is its length in the pattern, 0 when the
// bracket is never closed and so stands for itself.
func class(p string, c byte) (n int, ok bool) {
	i, negate := 1, false
	if i < len(p) && (p[i] == '!' || p[i] == '^') {
		i, negate = i+1, true
	}
	for first := true; i < len(p); first = false {
		if p[i] == ']' && !first {
			return i + 1, ok != negate
		}
		if i+2 < len(p) && p[i+1] == '-' && p[i+2] != ']' {
			ok = ok || (p[i] <= c && c <= p[i+2])
			i += 3
			continue
		}
		ok = ok || p[i] == c
		i++
	}
	return 0, false
}
