package validate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// scoped returns the requests of one scope in their stored form, -scope of submit(1), and why they cannot be made.
func scoped(c *cell.Cell, j *grid.Job, of grid.TaskScope) (requests grid.Requests, text string) {
	requests, err := c.Cluster.Complex().Normalise(j.HardOf(of))
	if err != nil {
		return nil, err.Error()
	}
	if text := strangeHost(c, requests); text != "" {
		return nil, text
	}
	for _, r := range requests {
		if text := badScoped(c, r, j.Hard, of); text != "" {
			return nil, text
		}
	}
	return requests, ""
}

// badScoped returns why a request cannot be made for the master task, or for the others, alone.
func badScoped(c *cell.Cell, r grid.Request, hard grid.Requests, of grid.TaskScope) string {
	x := c.Cluster.Complex()
	a := &x.List[x.Find(r.Name)]
	_, global := hard.Get(a.Name)
	switch limit := cell.LimitOf(&report.QueueInstance{}, a.Name); {
	case global:
		return fmt.Sprintf("job rejected: resource %q is requested in scope global and in scope %s", a.Name, of)
	case limit != nil:
		return fmt.Sprintf("job rejected: %q limits all tasks of a job on a host: it can be requested in scope global only",
			a.Name)
	case a.Exclusive, a.Name == grid.ContainerRequest:
		return fmt.Sprintf("job rejected: resource %q can be requested in scope global only", a.Name)
	case of == grid.SlaveTasks && (a.PerJob || a.PerHost):
		return fmt.Sprintf("job rejected: resource %q is not taken by each task: it can't be requested in scope slave",
			a.Name)
	}
	return ""
}

// lookUpScopes checks the requests for the master task and for the others, and stores them in their normal form.
func lookUpScopes(c *cell.Cell, j *grid.Job) *gdi.Answer {
	if !j.Scoped() {
		return nil
	}
	if j.PE == "" {
		return gdi.Invalid("scope", "job rejected: -scope master and -scope slave are not allowed for non-parallel jobs")
	}
	master, text := scoped(c, j, grid.MasterTask)
	if text != "" {
		return gdi.Invalid("l", text)
	}
	slave, text := scoped(c, j, grid.SlaveTasks)
	if text != "" {
		return gdi.Invalid("l", text)
	}
	for _, r := range master {
		if o, both := slave.Get(r.Name); both && characteristics(r) != characteristics(o) {
			return gdi.Invalid("l",
				fmt.Sprintf(
					"job rejected: resource map %q is requested with other characteristics in scope master than in scope slave",
					r.Name))
		}
	}
	if !slices.Equal(master, j.MasterHard) || !slices.Equal(slave, j.SlaveHard) {
		own := j.Ask()
		own.MasterHard, own.SlaveHard = master, slave
	}
	return nil
}

// characteristics are those that a request of a resource map selects by.
func characteristics(r grid.Request) string {
	_, block, _ := strings.Cut(r.Value, "[")
	return block
}
