package document

// GPUs is quill gpu.
type GPUs struct {
	GPUs     []GPU  `json:"gpus" jsonschema:"by address"`
	Resource string `json:"resource" jsonschema:"the resource map that offers them"`
	Value    string `json:"value,omitzero" jsonschema:"of the resource in complex_values of the host; absent when nothing is offered"`
}

// SchemaName returns quill-gpu.
func (GPUs) SchemaName() string { return "quill-gpu" }

// GPU is a device of a host.
type GPU struct {
	Address string   `json:"address" jsonschema:"on the PCI bus"`
	ID      string   `json:"id,omitzero" jsonschema:"in the resource map; absent when it is not offered"`
	Vendor  string   `json:"vendor" jsonschema:"nvidia, amd, intel or the number of another one"`
	Model   string   `json:"model,omitzero"`
	UUID    string   `json:"uuid,omitzero"`
	Memory  uint64   `json:"memory,omitzero" jsonschema:"bytes"`
	NUMA    *int     `json:"numa,omitzero" jsonschema:"NUMA node that it is next to"`
	Devices []string `json:"devices" jsonschema:"device files, its own first"`
	Unfit   string   `json:"unfit,omitzero" jsonschema:"why jobs cannot use it as it is"`
}
