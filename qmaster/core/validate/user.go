package validate

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
	"github.com/quill-grid/quill/qmaster/core/refuse"
)

func userRefers(c *cell.Cell, o grid.Object) *refuse.Refusal {
	p := o.(*grid.User).DefaultProject
	if p != "" && c.State.Get(grid.KindProject, grid.Key{Name: p}) == nil {
		return refuse.Invalid("default_project", fmt.Sprintf("denied: project %q does not exist", p))
	}
	return nil
}
