package conf

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// FormatRQSs prints resource quota sets as qconf -srqs does.
func FormatRQSs(list []*grid.RQS) string { return Style{}.FormatRQSs(list) }

// FormatRQSs prints resource quota sets as qconf -srqs does.
func (s Style) FormatRQSs(list []*grid.RQS) string {
	var b strings.Builder
	for _, r := range list {
		b.WriteString("{\n")
		for _, a := range attributes(r) {
			head := fmt.Sprintf("   %-12s ", a.Name)
			if a.Name != "limit" {
				s.wrapped(&b, head, a.format(), 3)
				continue
			}
			for _, l := range r.Limits {
				s.wrapped(&b, head, l, 3)
			}
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// ErrNoQuotaSets means that a text contains no resource quota set.
var ErrNoQuotaSets = refuse("No resource quota set found")

// ParseRQSs reads the sets of a file of qconf -Arqs and -Mrqs,
// sge_resource_quota(5).
func ParseRQSs(text string) (list []*grid.RQS, err error) {
	var r *grid.RQS
	var seen map[string]bool
	for n, rest := 0, text; rest != ""; {
		var line string
		line, rest = nextLine(rest, &n)
		switch {
		case line == "" || line[0] == '#':
		case line == "{" && r == nil:
			r, seen = &grid.RQS{}, map[string]bool{}
		case line == "}" && r != nil:
			if r.Name == "" {
				return nil, refuse("required attribute \"name\" is missing")
			}
			if len(r.Limits) == 0 {
				return nil, refuse("resource quota set has no rules")
			}
			list, r = append(list, r), nil
		case r == nil || line == "{" || line == "}":
			return nil, refuse("unexpected %q in line %d", line, n)
		default:
			name, text, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
			text = strings.TrimSpace(text)
			if seen[name] && name != "limit" {
				return nil, refuse("attribute %q appears more than once", name)
			}
			seen[name] = true
			if err := setRQS(r, name, text); err != nil {
				return nil, err
			}
		}
	}
	if r != nil {
		return nil, refuse("resource quota set does not end with \"}\"")
	}
	if len(list) == 0 {
		return nil, ErrNoQuotaSets
	}
	return list, nil
}

func setRQS(r *grid.RQS, name, text string) error {
	if name == "limit" {
		rule, err := grid.ParseQuotaRule(text)
		if err != nil {
			return refuse("%s", err)
		}
		r.Limits = append(r.Limits, rule.String())
		return nil
	}
	a, ok := find(r, name)
	if !ok {
		return refuse("unknown attribute name %q", name)
	}
	return a.parse(text)
}
