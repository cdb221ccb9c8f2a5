package gpu

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// GPU is a device of a host.
type GPU struct {
	Address string   // on the PCI bus: 0000:3b:00.0
	Vendor  string   // nvidia, amd, intel, or the number of another one
	Model   string   // as the driver calls it; may be empty
	UUID    string   // as CUDA_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES name it; may be empty
	Memory  uint64   // in bytes, 0: not known
	NUMA    int      // the NUMA node that it is next to, -1: not known
	Devices []string // device files, the first one is its own
	Unfit   string   // why it cannot be offered to jobs as it is; empty: it can
}

// Find returns the GPUs in a tree of files that has the directories proc and sys, by address. problems are files that
// could not be read or make no sense; other GPUs are found all the same. A host without GPUs is no problem.
func Find(tree fs.FS) (gpus []GPU, problems []error) {
	f := finder{tree: tree}
	f.nvidia()
	f.kfd()
	f.drm()
	for i := range f.found {
		g := &f.found[i]
		g.NUMA = f.numa(g.Address)
		if g.Unfit == "" && g.UUID == "" {
			g.Unfit = "it has no UUID"
		}
	}
	slices.SortFunc(f.found, func(a, b GPU) int { return cmp.Compare(a.Address, b.Address) })
	return f.found, f.problems
}

type finder struct {
	tree     fs.FS
	found    []GPU
	problems []error
}

// bad notes what is wrong with a file. That one is not there is not.
func (f *finder) bad(name string, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if p := new(fs.PathError); errors.As(err, &p) {
		err = p.Err
	}
	f.problems = append(f.problems, fmt.Errorf("%s: %w", name, err))
}

// glob lists files, in order.
func (f *finder) glob(pattern string) []string {
	names, err := fs.Glob(f.tree, pattern)
	if err != nil {
		f.bad(pattern, err)
	}
	return names
}

// text is a short file without the space around it; ok is false when it is not there.
func (f *finder) text(name string) (text string, ok bool) {
	b, err := fs.ReadFile(f.tree, name)
	if err != nil {
		f.bad(name, err)
		return "", false
	}
	return strings.TrimSpace(string(b)), true
}

// pairs reads lines of a name and a value.
func (f *finder) pairs(name, separator string) (pairs map[string]string, ok bool) {
	text, ok := f.text(name)
	pairs = map[string]string{}
	for line := range strings.Lines(text) {
		if key, value, is := strings.Cut(line, separator); is {
			pairs[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return pairs, ok
}

// numa is the NUMA node of a PCI device, -1 where the kernel does not know.
func (f *finder) numa(address string) int {
	name := "sys/bus/pci/devices/" + address + "/numa_node"
	text, ok := f.text(name)
	if !ok {
		return -1
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		f.bad(name, fmt.Errorf("%q is no number", text))
		return -1
	}
	return max(n, -1)
}

// at returns the GPU with an address, nil when there is none yet.
func (f *finder) at(address string) *GPU {
	if i := slices.IndexFunc(f.found, func(g GPU) bool { return g.Address == address }); i >= 0 {
		return &f.found[i]
	}
	return nil
}

// nvidia reads what the driver of NVIDIA says in proc/driver/nvidia.
func (f *finder) nvidia() {
	for _, name := range f.glob("proc/driver/nvidia/gpus/*/information") {
		says, ok := f.pairs(name, ":")
		if !ok {
			continue
		}
		g := GPU{Address: strings.ToLower(path.Base(path.Dir(name))), Vendor: "nvidia", Model: says["Model"], UUID: says["GPU UUID"]}
		minor, err := strconv.ParseUint(says["Device Minor"], 10, 16)
		if err != nil {
			f.bad(name, fmt.Errorf("no number of its device: %q", says["Device Minor"]))
			continue
		}
		g.Devices = []string{fmt.Sprint("/dev/nvidia", minor)}
		if strings.Contains(g.UUID, "?") { // nobody has opened it since the driver was loaded
			g.UUID = ""
		}
		switch {
		case strings.EqualFold(says["GPU Excluded"], "yes"):
			g.Unfit = "the driver leaves it out (GPU Excluded)"
		case len(f.glob(fmt.Sprintf("proc/driver/nvidia/capabilities/gpu%d/mig/gi*/access", minor))) > 0:
			g.Unfit = "it is divided into MIG instances: list them with nvidia-smi -L"
		}
		f.found = append(f.found, g)
	}
}

// kfd reads the compute devices of AMD's driver in sys/class/kfd.
func (f *finder) kfd() {
	for _, name := range f.glob("sys/class/kfd/kfd/topology/nodes/*/properties") {
		says, ok := f.pairs(name, " ")
		if !ok || says["simd_count"] == "0" || says["simd_count"] == "" {
			continue // a processor
		}
		number := func(key string) uint64 {
			n, err := strconv.ParseUint(says[key], 10, 64)
			if err != nil && says[key] != "" {
				f.bad(name, fmt.Errorf("%s is no number: %q", key, says[key]))
			}
			return n
		}
		location := number("location_id")
		g := GPU{Address: fmt.Sprintf("%04x:%02x:%02x.%x", number("domain"), location>>8&0xff, location>>3&0x1f, location&7), Vendor: "amd"}
		g.Model, _ = f.text(path.Dir(name) + "/name")
		if id := number("unique_id"); id != 0 {
			g.UUID = fmt.Sprintf("GPU-%016x", id)
		}
		if minor := number("drm_render_minor"); minor != 0 {
			g.Devices = []string{fmt.Sprint("/dev/dri/renderD", minor)}
		}
		g.Devices = append(g.Devices, "/dev/kfd")
		for _, bank := range f.glob(path.Dir(name) + "/mem_banks/*/properties") {
			if has, _ := f.pairs(bank, " "); has["heap_type"] == "1" || has["heap_type"] == "2" { // in the device, seen by the host or not
				size, err := strconv.ParseUint(has["size_in_bytes"], 10, 64)
				if err != nil {
					f.bad(bank, fmt.Errorf("size_in_bytes is no number: %q", has["size_in_bytes"]))
				}
				g.Memory += size
			}
		}
		f.found = append(f.found, g)
	}
}

// drm reads the render nodes of the kernel: other vendors' GPUs, and a device file of those that are known.
func (f *finder) drm() {
	for _, name := range f.glob("sys/class/drm/renderD*/device/uevent") {
		says, ok := f.pairs(name, "=")
		address := strings.ToLower(says["PCI_SLOT_NAME"])
		if !ok || address == "" {
			continue // of no PCI device: virtual, or a part of the processor
		}
		device := "/dev/dri/" + path.Base(path.Dir(path.Dir(name)))
		g := f.at(address)
		if g == nil {
			vendor, _, _ := strings.Cut(strings.ToLower(says["PCI_ID"]), ":")
			f.found = append(f.found, GPU{Address: address, Vendor: vendorOf(vendor), Devices: []string{device}})
			continue
		}
		if !slices.Contains(g.Devices, device) {
			g.Devices = append(g.Devices, device)
		}
	}
}

// vendorOf is the name for a vendor's number on the PCI bus.
func vendorOf(number string) string {
	switch number {
	case "10de":
		return "nvidia"
	case "1002":
		return "amd"
	case "8086":
		return "intel"
	}
	return cmp.Or(number, "unknown")
}
