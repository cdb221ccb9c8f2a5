package switches

import (
	"github.com/quill-grid/quill/pkg/grid"
)

// Flag returns the Set of a switch without arguments that sets a field.
func Flag[T any](field func(*T) *bool) func(*T, []string) error {
	return func(t *T, _ []string) error { *field(t) = true; return nil }
}

// Text returns the Set of a switch that stores its argument in a field.
func Text[T any](field func(*T) *string) func(*T, []string) error {
	return func(t *T, words []string) error { *field(t) = words[0]; return nil }
}

// List returns the Set of a switch that adds the names of its arguments to a field.
func List[T any](field func(*T) *grid.Names) func(*T, []string) error {
	return func(t *T, words []string) error {
		list := field(t)
		for _, names := range words {
			*list = append(*list, Names(names)...)
		}
		return nil
	}
}
