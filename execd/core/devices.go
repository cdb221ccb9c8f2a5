package core

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
)

// GPU is a GPU of this host, as its drivers describe it.
type GPU struct {
	UUID  string // may be empty
	Files []string
}

// hostGPUs asks the host for its GPUs, once, and only for a host whose instances have devices.
func (w *planner) hostGPUs() []GPU {
	if w.gpus == nil && w.local.GPUs != nil && len(w.start.Deliver.Devices) > 0 {
		w.gpus = w.local.GPUs()
	}
	return w.gpus
}

// planDevices closes the devices of instances that the task does not have, where that can be done.
func (w *planner) planDevices() {
	if w.conf.Devices && w.site.Devices && w.p.Cgroup.Path != "" && len(w.start.Deliver.Devices) > 0 {
		w.p.Devices = wholeDevices(w.start.Deliver.Devices, w.hostGPUs())
	}
}

// wholeDevices adds to devices the other files of the GPUs that they name: a GPU has several, for instance one for CUDA
// and one for rendering. A file that several GPUs have (/dev/kfd) is added when all of them are named.
func wholeDevices(devices []grid.Device, gpus []GPU) []grid.Device {
	named := func(g *GPU) (access grid.Access, is bool) {
		for i := range devices {
			if slices.Contains(g.Files, devices[i].Path) && isOneGPU(devices[i].Path, gpus) {
				access, is = access|devices[i].Access, true
			}
		}
		return access, is
	}
	out := slices.Clone(devices)
	for i := range gpus {
		access, is := named(&gpus[i])
		if !is {
			continue
		}
		for _, file := range gpus[i].Files {
			stays := slices.ContainsFunc(gpus, func(g GPU) bool {
				_, is := named(&g)
				return !is && slices.Contains(g.Files, file)
			})
			if !stays && !slices.ContainsFunc(devices, func(d grid.Device) bool { return d.Path == file }) {
				out = append(out, grid.Device{Path: file, Access: access})
			}
		}
	}
	return grid.JoinDevices(out)
}

// isOneGPU reports whether a file is of one GPU alone.
func isOneGPU(file string, gpus []GPU) bool {
	n := 0
	for i := range gpus {
		if slices.Contains(gpus[i].Files, file) {
			n++
		}
	}
	return n == 1
}

// gpuUUIDs returns by which names programs find the devices of a grant: those of the map, else those that the host
// knows for their files. None when that of an instance is not known.
func (w *planner) gpuUUIDs(m *grid.MapGrant) []string {
	if len(m.UUIDs) > 0 {
		return m.UUIDs
	}
	gpus := w.hostGPUs()
	var found []string
	for _, d := range w.start.Deliver.Devices {
		if d.Resource != m.Resource || !isOneGPU(d.Path, gpus) {
			continue
		}
		g := gpus[slices.IndexFunc(gpus, func(g GPU) bool { return slices.Contains(g.Files, d.Path) })]
		if g.UUID != "" && !slices.Contains(found, g.UUID) {
			found = append(found, g.UUID)
		}
	}
	ids := slices.Clone(m.IDs)
	slices.Sort(ids)
	if len(slices.Compact(ids)) != len(found) {
		return nil
	}
	return found
}
