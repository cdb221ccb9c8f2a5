package switches

import (
	"slices"
	"strings"
	"unicode"

	"github.com/quill-grid/quill/pkg/grid"
)

// Names reads a list of words separated by commas; empty words are dropped.
func Names(text string) grid.Names {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}

// Assignments cuts name[=value],... at its commas, but not within quotes. The quotes stay: they are part of the value.
func Assignments(text string) []string {
	var quote rune
	return strings.FieldsFunc(text, func(c rune) bool {
		switch {
		case quote == c:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		}
		return c == ',' && quote == 0
	})
}

// Values reads name[=value],...: a value may hold blanks, quotes, commas within quotes and further
// equal signs. ok is false when a name is missing.
func Values(text string) (list grid.Values, ok bool) {
	var all grid.Assigned
	for _, word := range Assignments(text) {
		name, value, _ := strings.Cut(word, "=")
		if name == "" {
			return nil, false
		}
		all.Set(grid.Value{Name: name, Text: value})
	}
	return all.Values(), true
}

// Requests reads a resource_list of -l: name[=value],... Blanks divide as commas do, neither
// in brackets. Values are kept as written; a name alone stands for TRUE. The last of several
// requests for a name counts.
func Requests(old grid.Requests, text string) (grid.Requests, bool) {
	list := slices.Clone(old)
	for _, word := range grid.CutOutside(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		if word == "" {
			continue
		}
		name, value, given := strings.Cut(word, "=")
		if name == "" {
			return nil, false
		}
		if !given {
			value = "TRUE"
		}
		list = slices.DeleteFunc(list, func(r grid.Request) bool { return r.Name == name })
		list = append(list, grid.Request{Name: name, Value: value})
	}
	return list, true
}

// Paths reads a path_list, [[host]:]path,... : a path for the same host, or for all
// hosts, takes the place of one of an earlier list. Two in one list are qmaster's to
// refuse. A path for all hosts stands without a colon in front, unless it has a colon
// itself.
func Paths(old grid.Names, text string) grid.Names {
	list := slices.Clone(old)
	earlier := len(list)
	for _, word := range Names(text) {
		if path, ok := strings.CutPrefix(word, ":"); ok && path != "" && !strings.Contains(path, ":") {
			word = path
		}
		host, _, _ := CutPath(word)
		i := slices.IndexFunc(list[:earlier], func(o string) bool { h, _, _ := CutPath(o); return h == host })
		if i >= 0 {
			list[i] = word
			continue
		}
		list = append(list, word)
	}
	return list
}

// CutPath divides [[host]:]path; host is empty when the path is for all hosts.
func CutPath(word string) (host, path string, forHost bool) {
	before, after, colon := strings.Cut(word, ":")
	if !colon {
		return "", word, false
	}
	return before, after, before != ""
}

// Union adds to a list the words of more that are not in it.
func Union(list, more grid.Names) grid.Names {
	out, seen := slices.Clone(list), make(map[string]bool, len(list)+len(more))
	for _, w := range list {
		seen[w] = true
	}
	for _, w := range more {
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}

// YesNo reads y[es]|n[o].
func YesNo(text string) (yes, ok bool) {
	switch strings.ToLower(text) {
	case "y", "yes":
		return true, true
	case "n", "no":
		return false, true
	}
	return false, false
}
