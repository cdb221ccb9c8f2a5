package execd

import (
	"io/fs"
	"os"
	"time"

	"github.com/quill-grid/quill/execd/core"
	"github.com/quill-grid/quill/execd/shepherd"
	"github.com/quill-grid/quill/pkg/gpu"
)

// gpusFor is how long the GPUs that were found are those of the host: jobs that start together look once.
const gpusFor = 10 * time.Second

// gpuFinder finds the GPUs of the host when a job with devices starts. It belongs to the goroutine of batchRunner.
type gpuFinder struct {
	tree  fs.FS
	slow  shepherd.Slowness // a driver that does not answer holds up no start but this one
	found []core.GPU
	at    time.Time
}

// findGPUs returns the GPUs; when the drivers do not answer in time those that were found before.
func (f *gpuFinder) findGPUs() []core.GPU {
	if !f.at.IsZero() && time.Since(f.at) < gpusFor {
		return f.found
	}
	if f.tree == nil {
		f.tree = os.DirFS("/")
	}
	found := new([]gpu.GPU) // a look that does not return in time still writes it
	f.at = time.Now()
	if f.slow.Within(0, lookPatience, func() { *found, _ = gpu.Find(f.tree) }, func() {}) {
		f.found = nil
		for _, g := range *found {
			f.found = append(f.found, core.GPU{UUID: g.UUID, Files: g.Devices})
		}
	}
	return f.found
}
