package pattern

import "strings"

// Suggest returns a hint for a name that is unknown: "did you mean all.q?". It is empty when none of the names that
// each yields is near: a third of the letters, or one, may be others, missing, too many or exchanged.
func Suggest(unknown string, each func(yield func(name string) bool)) string {
	word, best, nearest, seen := strings.ToLower(unknown), 0, "", 0
	if len(word) > longestCompared {
		return ""
	}
	each(func(name string) bool {
		if name == unknown { // something else is wrong
			nearest = ""
			return false
		}
		most := max(1, max(len(word), len(name))/3)
		if nearest != "" {
			most = min(most, best-1)
		}
		if abs(len(word)-len(name)) <= most {
			if d := distance(word, strings.ToLower(name)); d <= most && d < len(word) {
				best, nearest = d, name
			}
		}
		seen++
		return seen < comparedMost
	})
	if nearest == "" {
		return ""
	}
	return "did you mean " + nearest + "?"
}

// Bounds of what a suggestion costs: the length of the unknown name, and how many names are looked at.
const (
	longestCompared = 64
	comparedMost    = 2000
)

// distance is how many letters have to be changed, removed, added or exchanged with their neighbour to make b of a.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for k := range row {
		row[k] = k
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for k := range len(b) {
			change := last[k]
			if a[i] != b[k] {
				change++
			}
			row[k+1] = min(change, last[k+1]+1, row[k]+1)
			if i > 0 && k > 0 && a[i] == b[k-1] && a[i-1] == b[k] {
				row[k+1] = min(row[k+1], before[k-1]+1)
			}
		}
	}
	return row[len(b)]
}

func abs(n int) int { return max(n, -n) }
