package complex

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/grid"
)

// Characteristics that name device files: of any kind with their modes, and that of a GPU, which quill gpu writes.
const (
	devicesTrait   = "devices"
	gpuDeviceTrait = "gpu_device"
)

// checkDevices returns what is wrong with a characteristic that names device files.
func checkDevices(name, value string) error {
	devices, err := devicesOf(name, value)
	if err == nil && name == gpuDeviceTrait && len(devices) != 1 {
		err = fmt.Errorf("%q is not one device file", value)
	}
	return err
}

// devicesOf reads a characteristic; nothing when it names no device files.
func devicesOf(name, value string) ([]grid.Device, error) {
	switch name {
	case devicesTrait:
		return grid.ParseDevices(value)
	case gpuDeviceTrait:
		devices, err := grid.ParseDevices(value)
		for i := range devices {
			devices[i].Access = grid.DeviceRead | grid.DeviceWrite
		}
		return devices, err
	}
	return nil, nil
}

// MapDevice is a device file that an instance of a map names.
type MapDevice struct {
	ID string // of the instance
	grid.Device
}

// devices lists the device files of all instances.
func (m Map) devices() (out []MapDevice) {
	for i := range m {
		for _, t := range m[i].Traits {
			devices, err := devicesOf(t.Name, t.Text)
			if err != nil { // what was stored before it was checked gives none
				continue
			}
			for _, d := range devices {
				out = append(out, MapDevice{m[i].ID, d})
			}
		}
	}
	return out
}
