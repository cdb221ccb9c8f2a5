package switches

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// TaskRange reads n[-m[:s]] as of -t; m is kept as given. Real clients also
// write n:m, and a list n,m,... in even steps is the range it makes. A task 0 is
// refused by qmaster.
func TaskRange(text string) (grid.Range, error) {
	if !strings.Contains(text, ",") {
		return taskRange(text)
	}
	list, err := TaskRanges(text)
	if err != nil {
		return grid.Range{}, err
	}
	r := grid.Range{First: list.First(), Last: list.Last(), Step: 1}
	list.Each(func(n uint32) bool {
		r.Step = max(n-r.First, 1)
		return n == r.First
	})
	even := r.Count() == list.Count()
	list.Each(func(n uint32) bool {
		even = even && r.Contains(n)
		return even
	})
	if !even {
		return grid.Range{}, Invalidf("-t option only allows one range specification")
	}
	return r, nil
}

// TaskRanges reads a list of n[-m[:s]], task_id_range of qdel(1).
func TaskRanges(text string) (grid.Ranges, error) {
	var parts, list grid.Ranges
	for _, part := range strings.Split(text, ",") {
		r, err := taskRange(part)
		if err != nil {
			return nil, err
		}
		if r.First == 0 {
			return nil, Invalidf("job rejected: 0 is an invalid task id")
		}
		parts = append(parts, Exact(r))
	}
	slices.SortFunc(parts, func(a, b grid.Range) int { return cmp.Compare(a.First, b.First) })
	for _, r := range parts {
		last := len(list) - 1
		switch {
		case r.First > list.Last():
			list = append(list, r)
		case r.Step == 1 && list[last].Step == 1:
			list[last].Last = max(list[last].Last, r.Last)
		case r.Count() > overlapMax:
			return nil, Invalidf("Range specifier %q overlaps itself too much", text)
		default:
			list = list.Plus(grid.Ranges{r})
		}
	}
	return list, nil
}

// overlapMax is how many task ids are sorted one by one where ranges with
// steps overlap.
const overlapMax = 100000

func taskRange(text string) (r grid.Range, err error) {
	first, rest, cut := cutAny(text, "-:")
	if first == "" && cut {
		return r, Invalidf("Range specifier %q has unknown trailer %q", text, rest)
	}
	if r.First, err = Number(first); err != nil {
		return r, err
	}
	r.Last, r.Step = r.First, 1
	if cut {
		last, step, stepped := strings.Cut(rest, ":")
		if r.Last, err = Number(last); err != nil {
			return r, err
		}
		if strings.Contains(step, ":") {
			return r, Invalidf("Range specifier %q has unknown trailer %q", step, step[strings.Index(step, ":"):])
		}
		if stepped {
			if r.Step, err = Number(step); err != nil {
				return r, err
			}
		}
	}
	switch {
	case r.Step == 0:
		return r, Invalidf("Negative or zero step in range is not allowed")
	case r.Last < r.First:
		r.First, r.Last = r.Last, r.First
	}
	return r, nil
}

// Exact ends a range at the last of its numbers: 1-10:2 is 1-9:2.
func Exact(r grid.Range) grid.Range {
	r.Last = r.First + (r.Count()-1)*r.Step
	return r
}

func cutAny(s, chars string) (before, after string, found bool) {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// Number reads a task id, slot count or step.
func Number(text string) (uint32, error) {
	digits := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if digits == 0 || text == "" {
		return 0, Invalidf("Numerical value invalid!\nThe initial portion of string %q contains no decimal number", text)
	}
	if digits > 0 {
		return 0, Invalidf("Range specifier %q has unknown trailer %q", text, text[digits:])
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, Invalidf("Numerical value invalid!\n%q is too large", text)
	}
	return uint32(n), nil
}

// SlotRanges reads the slots of -pe: a list of n, n-m, n-, -m and - as
// ascending disjoint ranges. None at all, 0, is refused by qmaster.
func SlotRanges(text string) (grid.Ranges, error) {
	var list grid.Ranges
	for _, part := range strings.Split(text, ",") {
		r := grid.Range{First: 1, Last: grid.Open, Step: 1}
		low, high, cut := cutAny(part, "-:")
		var err error
		if low != "" || !cut {
			if r.First, err = Number(low); err != nil {
				return nil, err
			}
			if !cut {
				r.Last = r.First
			}
		}
		if high != "" {
			if r.Last, err = Number(high); err != nil {
				return nil, err
			}
		}
		if r.Last < r.First {
			r.First, r.Last = r.Last, r.First
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b grid.Range) int { return cmp.Compare(a.First, b.First) })
	merged := list[:1]
	for _, r := range list[1:] {
		last := &merged[len(merged)-1]
		if last.Last == grid.Open || r.First <= last.Last+1 {
			last.Last = max(last.Last, r.Last)
			continue
		}
		merged = append(merged, r)
	}
	return merged, nil
}
