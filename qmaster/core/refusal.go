package core

import (
	"fmt"
	"slices"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
)

// refuseOrder returns why an order is refused. An order that is applied, or harmlessly
// obsolete, has none: nil.
func refuseOrder(code orders.Code, format string, args ...any) *orders.Refusal {
	return &orders.Refusal{Code: code, Reason: fmt.Sprintf(format, args...)}
}

// lacksSlots reports whether a grant has no slots.
func lacksSlots(grants []grid.Grant) bool {
	return slices.ContainsFunc(grants, func(g grid.Grant) bool { return g.Slots == 0 })
}
