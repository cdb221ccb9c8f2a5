package gpu

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/gpu"
	"github.com/quill-grid/quill/pkg/grid"
)

// characteristics are what a map says of each GPU, complex(5) RSMAP.
var characteristics = []struct {
	attribute grid.Centry
	of        func(*gpu.GPU) string // "": not known
}{
	{grid.Centry{Name: "uuid", Shortcut: "uuid", Type: "STRING", Relop: "==", Default: "NONE"},
		func(g *gpu.GPU) string { return g.UUID }},
	{grid.Centry{Name: "gpu_model", Shortcut: "gpu_model", Type: "STRING", Relop: "==", Default: "NONE"},
		func(g *gpu.GPU) string { return word(g.Model) }},
	{grid.Centry{Name: "gpu_memory", Shortcut: "gpu_memory", Type: "MEMORY", Relop: "<=", Default: "0"},
		func(g *gpu.GPU) string {
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
	{grid.Centry{Name: "gpu_device", Shortcut: "gpu_device", Type: "STRING", Relop: "==", Default: "NONE"},
		func(g *gpu.GPU) string {
			if len(g.Devices) == 0 {
				return ""
			}
			return g.Devices[0]
		}},
}

// offer is what a host is to offer: the value of a resource map, and the attributes that it needs.
type offer struct {
	value      string
	attributes []grid.Centry // the resource map, then the characteristics
	ids        map[*gpu.GPU]string
}

// offerOf describes the GPUs as instances of a resource map. A GPU that the present map of the host has, by UUID, keeps
// its id, how often it is listed, and the characteristics that are not found here: a job that has the id has this
// device, and a site adds what drivers do not report. The others are GPU0, GPU1, ... in their order, without the ids
// that are kept. MIG instances, which no file lists, stay as they are.
func offerOf(resource string, gpus []*gpu.GPU, present complex.Map) offer {
	o := offer{ids: map[*gpu.GPU]string{}}
	o.attributes = []grid.Centry{{Name: resource, Shortcut: resource, Type: grid.TypeMap, Relop: "<=", Requestable: "YES",
		Consumable: "YES", Default: "NONE", Urgency: "0"}}
	kept, used := map[*gpu.GPU]complex.Instance{}, map[string]bool{}
	parts := slices.DeleteFunc(slices.Clone(present),
		func(in complex.Instance) bool { return !strings.HasPrefix(uuidOf(in), "MIG-") })
	for _, in := range parts {
		used[in.ID] = true
	}
	for _, g := range gpus {
		i := slices.IndexFunc(present, func(in complex.Instance) bool { return g.UUID != "" && uuidOf(in) == g.UUID })
		if i >= 0 && !used[present[i].ID] {
			kept[g], used[present[i].ID] = present[i], true
		}
	}
	var words []string
	next := 0
	for _, g := range gpus {
		was, known := kept[g]
		for !known && (was.ID == "" || used[was.ID]) {
			was.ID, was.Amount = "GPU"+strconv.Itoa(next), 1
			next++
		}
		o.ids[g] = was.ID
		for range was.Amount {
			words = append(words, was.ID+o.described(g, was.Traits))
		}
	}
	for _, in := range parts {
		for range in.Amount {
			words = append(words, in.ID+bracketed(in.Traits))
		}
	}
	o.value = fmt.Sprintf("%d(%s)", len(words), strings.Join(words, " "))
	return o
}

// described returns the characteristics of a GPU in brackets, after those that were found the others that it has, and
// notes the attributes that they need.
func (o *offer) described(g *gpu.GPU, present grid.Values) string {
	var traits grid.Values
	for _, c := range characteristics {
		if v := c.of(g); v != "" {
			traits = append(traits, grid.Value{Name: c.attribute.Name, Text: v})
			if a := ofMap(c.attribute); !slices.Contains(o.attributes, a) {
				o.attributes = append(o.attributes, a)
			}
		}
	}
	for _, p := range present {
		if _, found := traits.Get(p.Name); !found {
			traits = append(traits, p)
		}
	}
	return bracketed(traits)
}

// bracketed returns characteristics as a map has them, "" for none.
func bracketed(traits grid.Values) string {
	if len(traits) == 0 {
		return ""
	}
	return "[" + traits.Text() + "]"
}

// uuidOf returns the UUID of an instance, "" when the map does not have it.
func uuidOf(in complex.Instance) string {
	uuid, _ := in.Traits.Get("uuid")
	return uuid
}

// ofMap is an attribute that describes instances, which requests may select by it.
func ofMap(a grid.Centry) grid.Centry {
	a.Requestable, a.Consumable, a.Urgency = "YES", "NO", "0"
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
