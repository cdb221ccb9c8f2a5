package complex

import (
	"fmt"
	"strconv"

	"github.com/quill-grid/quill/pkg/grid"
)

// Format writes a number of the attribute's type as Grid Engine's messages do.
func (a *Attribute) Format(v float64) string {
	switch {
	case a.Type == "MEMORY":
		return printMemory(v)
	case a.Type == "TIME":
		return grid.FormatTimeSpan(v)
	case v >= grid.Infinity:
		return "infinity"
	}
	return strconv.FormatFloat(v, 'f', 6, 64)
}

// printMemory is 6.000G for the largest power of 1024 that leaves a one
// before the point.
func printMemory(v float64) string {
	switch {
	case v >= grid.Infinity:
		return "infinity"
	case v >= 1<<40:
		return fmt.Sprintf("%.3fT", v/(1<<40))
	case v >= 1<<30:
		return fmt.Sprintf("%.3fG", v/(1<<30))
	case v >= 1<<20:
		return fmt.Sprintf("%.3fM", v/(1<<20))
	case v >= 1<<10:
		return fmt.Sprintf("%.3fK", v/(1<<10))
	}
	return fmt.Sprintf("%.3f", v)
}
