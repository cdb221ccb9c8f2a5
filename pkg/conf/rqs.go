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
		for _, a := range attributesOf(r) {
			head := fmt.Sprintf("   %-12s ", a.Name)
			if a.Name != "limit" {
				s.printWrapped(&b, head, a.formatValue(), 3)
				continue
			}
			for _, l := range r.Limits {
				s.printWrapped(&b, head, l, 3)
			}
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// ErrNoQuotaSets means that a text contains no resource quota set.
var ErrNoQuotaSets = refusef("No resource quota set found")

// ErrNoQuotaRules means that a resource quota set has no limit.
var ErrNoQuotaRules = refusef("resource quota set has no rules")

// ParseRQSs reads the sets of a file of qconf -Arqs and -Mrqs,
// sge_resource_quota(5).
func ParseRQSs(text string) (list []*grid.RQS, err error) {
	var r *grid.RQS
	var seen map[string]bool
	n := 0
	for rest := text; rest != ""; {
		var line string
		line, rest = nextLine(rest, &n)
		switch {
		case line == "" || line[0] == '#':
		case line == "{" && r == nil:
			r, seen = &grid.RQS{}, map[string]bool{}
		case line == "}" && r != nil:
			if r.Name == "" {
				return nil, refusef("required attribute \"name\" is missing")
			}
			if len(r.Limits) == 0 {
				return nil, ErrNoQuotaRules
			}
			list, r = append(list, r), nil
		case r == nil || line == "{" || line == "}":
			side := "begin with \"{\""
			if r != nil {
				side = "end with \"}\""
			}
			return nil, refusef("each value in the attribute value list in line %d should %s", n, side)
		default:
			name, text, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
			text = strings.TrimSpace(text)
			if seen[name] && name != "limit" {
				return nil, refusef("attribute %q appears more than once", name)
			}
			seen[name] = true
			if err := setRQS(r, name, text); err != nil {
				return nil, err
			}
		}
	}
	if r != nil {
		return nil, refusef("each value in the attribute value list in line %d should end with \"}\"", n+1)
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
			return refusef("%s", err)
		}
		r.Limits = append(r.Limits, rule.String())
		return nil
	}
	a, ok := findAttribute(r, name)
	if !ok {
		return refusef("unknown attribute name %q", name)
	}
	return a.parseValue(text)
}
