package core

import (
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// mapVariable begins the variables that have the ids of a resource map, or the amount of another
// consumable: SGE_HGR_gpu.
const mapVariable = "SGE_HGR_"

// deviceVariables are where the libraries of CUDA, NVIDIA's container runtime and ROCm look for
// the devices of a process. Only identifiers that are the same inside and outside of a
// container and after a boot are written there, never numbers.
var deviceVariables = [...]string{"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"}

// planMaps makes the variables of the instances and of other consumables that the task has on this host. A shared
// instance that it has twice is listed twice in its resource map, and is one device.
func (w *planner) planMaps() {
	var uuids []string
	for _, m := range w.start.Deliver.Maps {
		w.instances = append(w.instances, grid.Value{Name: mapVariable + m.Resource, Text: strings.Join(m.IDs, " ")})
		for _, u := range w.gpuUUIDs(&m) {
			if !slices.Contains(uuids, u) {
				uuids = append(uuids, u)
			}
		}
	}
	w.gpuNames = uuids
	for _, v := range w.start.Deliver.Taken {
		w.instances = append(w.instances, grid.Value{Name: mapVariable + v.Name, Text: v.Text})
	}
	if len(uuids) == 0 {
		return
	}
	for _, name := range deviceVariables {
		w.devices = append(w.devices, grid.Value{Name: name, Text: strings.Join(uuids, ",")})
	}
}
