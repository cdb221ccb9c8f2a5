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
	f.pci()
	for i := range f.found {
		g := &f.found[i]
		g.NUMA = f.numa(g.Address)
		if g.Unfit == "" && g.UUID == "" {
			g.Unfit = "it has no UUID"
		}
	}
	slices.SortStableFunc(f.found, func(a, b GPU) int { return cmp.Compare(a.Address, b.Address) })
	return f.found, f.problems
}

type finder struct {
	tree     fs.FS
	found    []GPU
	problems []error
}

// bad notes what is wrong with a file that need not be there.
func (f *finder) bad(name string, err error) {
	if !errors.Is(err, fs.ErrNotExist) {
		f.wrong(name, err)
	}
}

// wrong notes what is wrong with a file.
func (f *finder) wrong(name string, err error) {
	if p := new(fs.PathError); errors.As(err, &p) {
		err = p.Err
	}
	f.problems = append(f.problems, fmt.Errorf("%s: %w", name, err))
}

// glob lists files in order, numbers as numbers.
func (f *finder) glob(pattern string) []string {
	names, err := fs.Glob(f.tree, pattern)
	if err != nil {
		f.bad(pattern, err)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
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

// lines reads a file that has to be there, as pairs does.
func (f *finder) lines(name, separator string) (pairs map[string]string, ok bool) {
	if _, err := fs.Stat(f.tree, name); err != nil {
		f.wrong(name, err)
		return nil, false
	}
	return f.pairs(name, separator)
}

// nvidia reads what the driver of NVIDIA says in proc/driver/nvidia.
func (f *finder) nvidia() {
	for _, dir := range f.glob("proc/driver/nvidia/gpus/*") {
		f.found = append(f.found, f.nvidiaAt(dir))
	}
}

// nvidiaAt reads the directory of one GPU.
func (f *finder) nvidiaAt(dir string) GPU {
	name := dir + "/information"
	says, ok := f.lines(name, ":")
	g := GPU{Address: strings.ToLower(path.Base(dir)), Vendor: "nvidia", Model: says["Model"]}
	if !ok {
		g.Unfit = "its driver does not describe it"
		return g
	}
	minor, err := strconv.ParseUint(says["Device Minor"], 10, 16)
	if err != nil {
		f.wrong(name, fmt.Errorf("no number of its device: %q", says["Device Minor"]))
		g.Unfit = "its device file is not known"
		return g
	}
	g.Devices = []string{fmt.Sprint("/dev/nvidia", minor)}
	switch uuid := says["GPU UUID"]; {
	case strings.Contains(uuid, "?"): // it has not been opened since the driver was loaded
	case !identifier(uuid):
		f.wrong(name, fmt.Errorf("%q is no UUID", uuid))
	default:
		g.UUID = uuid
	}
	switch {
	case strings.EqualFold(says["GPU Excluded"], "yes"):
		g.Unfit = "the driver leaves it out (GPU Excluded)"
	case len(f.glob(fmt.Sprintf("proc/driver/nvidia/capabilities/gpu%d/mig/gi*/access", minor))) > 0:
		g.Unfit = "it is divided into MIG instances: list them with nvidia-smi -L"
	}
	return g
}

// identifier reports whether a text is one of letters, digits and hyphens, as identifiers of devices are.
func identifier(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0
}

// kfd reads the compute devices of AMD's driver in sys/class/kfd. The parts into which a GPU is divided are devices of
// their own at one address.
func (f *finder) kfd() {
	for _, dir := range f.glob("sys/class/kfd/kfd/topology/nodes/*") {
		name := dir + "/properties"
		says, ok := f.lines(name, " ")
		if !ok {
			continue
		}
		simds, known := f.number(name, says, "simd_count")
		if !known || simds == 0 { // 0: a processor
			continue
		}
		location, placed := f.number(name, says, "location_id")
		if !placed {
			continue
		}
		domain := uint64(0)
		if _, has := says["domain"]; has { // older kernels do not have it
			domain, _ = f.number(name, says, "domain")
		}
		g := GPU{Address: fmt.Sprintf("%04x:%02x:%02x.%x", domain, location>>8&0xff, location>>3&0x1f, location&7),
			Vendor: "amd"}
		g.Model, _ = f.text("sys/bus/pci/devices/" + g.Address + "/product_name")
		if g.Model == "" {
			g.Model, _ = f.text(dir + "/name")
		}
		if _, has := says["unique_id"]; has {
			if id, _ := f.number(name, says, "unique_id"); id != 0 {
				g.UUID = fmt.Sprintf("GPU-%016x", id)
			}
		}
		if minor, _ := f.number(name, says, "drm_render_minor"); minor != 0 {
			g.Devices = []string{fmt.Sprint("/dev/dri/renderD", minor), "/dev/kfd"}
		} else {
			g.Unfit = "it has no render node"
		}
		g.Memory = f.banks(dir)
		f.found = append(f.found, g)
	}
}

// banks is the size of the memory banks in the device of a KFD node.
func (f *finder) banks(dir string) (sum uint64) {
	for _, bank := range f.glob(dir + "/mem_banks/*") {
		name := bank + "/properties"
		has, ok := f.lines(name, " ")
		if ok && (has["heap_type"] == "1" || has["heap_type"] == "2") { // in the device, seen by the host or not
			size, _ := f.number(name, has, "size_in_bytes")
			sum += size
		}
	}
	return sum
}

// number is a value that a file has to have.
func (f *finder) number(name string, says map[string]string, key string) (n uint64, ok bool) {
	n, err := strconv.ParseUint(says[key], 10, 64)
	if err != nil {
		f.wrong(name, fmt.Errorf("%s is no number: %q", key, says[key]))
	}
	return n, err == nil
}

// drm reads the device files of the kernel for graphics: render nodes, which are those of other vendors' GPUs and
// further files of the GPUs that are known, then card nodes, by which a GPU draws and computes, too. What has only a
// card node is a screen, for instance that of a management processor.
func (f *finder) drm() {
	for _, node := range []struct {
		kind string
		gpu  bool
	}{{"renderD", true}, {"card", false}} {
		for _, name := range f.glob("sys/class/drm/" + node.kind + "[0-9]*/device/uevent") {
			base := path.Base(path.Dir(path.Dir(name)))
			if strings.Trim(strings.TrimPrefix(base, node.kind), "0123456789") != "" {
				continue // card0-HDMI-A-1: a connector
			}
			says, ok := f.pairs(name, "=")
			address := strings.ToLower(says["PCI_SLOT_NAME"])
			if !ok || address == "" {
				continue // of no PCI device: virtual, or a part of the processor
			}
			f.drmNode("/dev/dri/"+base, address, says["PCI_ID"], node.gpu)
		}
	}
}

// drmNode notes a device file of the GPU at an address, and with isGPU the GPU.
func (f *finder) drmNode(device, address, id string, isGPU bool) {
	g := f.at(address)
	switch {
	case g != nil && !slices.Contains(g.Devices, device):
		g.Devices = append(g.Devices, device)
	case g == nil && isGPU:
		vendor, _, _ := strings.Cut(strings.ToLower(id), ":")
		f.found = append(f.found, GPU{Address: address, Vendor: vendorOf(vendor), Devices: []string{device}})
	}
}

// pci lists the display controllers (class 03) and accelerators (class 12) of NVIDIA and AMD for which no driver offers
// a device file, with the reason. Other vendors' controllers, such as that of a management processor, are left out.
func (f *finder) pci() {
	for _, dir := range f.glob("sys/bus/pci/devices/*") {
		address := strings.ToLower(path.Base(dir))
		class, ok := f.text(dir + "/class")
		if !ok || !strings.HasPrefix(class, "0x03") && !strings.HasPrefix(class, "0x12") || f.at(address) != nil {
			continue
		}
		number, _ := f.text(dir + "/vendor")
		vendor := vendorOf(strings.TrimPrefix(number, "0x"))
		if vendor != "nvidia" && vendor != "amd" {
			continue
		}
		g := GPU{Address: address, Vendor: vendor, Unfit: "no driver is loaded for it"}
		if says, _ := f.pairs(dir+"/uevent", "="); says["DRIVER"] != "" {
			g.Unfit = "its driver " + says["DRIVER"] + " has no device file for it"
		}
		f.found = append(f.found, g)
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
