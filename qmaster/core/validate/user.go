package validate

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

func userRefers(c *cell.Cell, o grid.Object) *gdi.Answer {
	p := o.(*grid.User).DefaultProject
	if p != "" && c.State.Get(grid.KindProject, grid.Key{Name: p}) == nil {
		return gdi.Invalid("default_project", fmt.Sprintf("denied: project %q does not exist", p))
	}
	return nil
}
