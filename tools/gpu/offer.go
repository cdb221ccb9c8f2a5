package gpu

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/gpu"
	"github.com/quill-grid/quill/pkg/grid"
)

// characteristics are what a map says of each GPU, complex(5) RSMAP.
var characteristics = []struct {
	attribute grid.Centry
	of        func(*gpu.GPU) string // "": not known
}{
	{grid.Centry{Name: "uuid", Shortcut: "uuid", Type: "STRING", Relop: "==", Default: "NONE"}, func(g *gpu.GPU) string { return g.UUID }},
	{grid.Centry{Name: "gpu_model", Shortcut: "gpu_model", Type: "STRING", Relop: "==", Default: "NONE"}, func(g *gpu.GPU) string { return word(g.Model) }},
	{grid.Centry{Name: "gpu_memory", Shortcut: "gpu_memory", Type: "MEMORY", Relop: "<=", Default: "0"}, func(g *gpu.GPU) string {
		if g.Memory == 0 {
			return ""
		}
		return strconv.FormatUint(g.Memory, 10)
	}},
	{grid.Centry{Name: "gpu_numa", Shortcut: "gpu_numa", Type: "INT", Relop: "==", Default: "0"}, func(g *gpu.GPU) string {
		if g.NUMA < 0 {
			return ""
		}
		return strconv.Itoa(g.NUMA)
	}},
	{grid.Centry{Name: "gpu_device", Shortcut: "gpu_device", Type: "STRING", Relop: "==", Default: "NONE"}, func(g *gpu.GPU) string { return g.Devices[0] }},
}

// offer is what a host is to offer: the value of a resource map, and the attributes that it needs.
type offer struct {
	value      string
	attributes []grid.Centry
	ids        map[string]string // by address
}

// offerOf names the GPUs GPU0, GPU1, ... in their order, with what is known of each.
func offerOf(resource string, gpus []gpu.GPU) offer {
	o := offer{ids: map[string]string{}}
	o.attributes = []grid.Centry{{Name: resource, Shortcut: resource, Type: grid.TypeMap, Relop: "<=", Requestable: "YES", Consumable: "YES", Default: "NONE", Urgency: "0"}}
	var words []string
	for i := range gpus {
		var traits []string
		for _, c := range characteristics {
			if v := c.of(&gpus[i]); v != "" {
				traits = append(traits, c.attribute.Name+"="+v)
				if a := ofMap(c.attribute); !slices.Contains(o.attributes, a) {
					o.attributes = append(o.attributes, a)
				}
			}
		}
		id := "GPU" + strconv.Itoa(i)
		o.ids[gpus[i].Address] = id
		words = append(words, id+"["+strings.Join(traits, ",")+"]")
	}
	o.value = fmt.Sprintf("%d(%s)", len(words), strings.Join(words, " "))
	return o
}

// ofMap is an attribute that only describes instances.
func ofMap(a grid.Centry) grid.Centry {
	a.Requestable, a.Consumable, a.Urgency = "NO", "NO", "0"
	return a
}

// word is a text without what has a meaning in the value of a map.
func word(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._-+", r):
			return r
		}
		return '_'
	}, text)
}
