package gpu

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestFind reads recorded trees. Each archive ends with the file "found": what there is.
func TestFind(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) < 4 {
		t.Fatalf("%d archives, %v", len(archives), err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tree, err := txtar.FS(a)
			if err != nil {
				t.Fatal(err)
			}
			gpus, problems := Find(tree)
			var b strings.Builder
			for _, g := range gpus {
				fmt.Fprintf(&b, "%s %s %q uuid=%s memory=%d numa=%d %s %s\n", g.Address, g.Vendor, g.Model, g.UUID, g.Memory,
					g.NUMA, strings.Join(g.Devices, ","), g.Unfit)
			}
			for _, err := range problems {
				fmt.Fprintln(&b, "problem:", err)
			}
			want := a.Files[len(a.Files)-1]
			if got := strings.ReplaceAll(b.String(), " \n", "\n"); want.Name != "found" || got != string(want.Data) {
				t.Errorf("found\n%s\nexpected (%s)\n%s", got, want.Name, want.Data)
			}
		})
	}
}

func FuzzInformation(f *testing.F) {
	f.Add("Model: \t A100\nGPU UUID: GPU-1\nDevice Minor: 0\n", "simd_count 240\nunique_id 5\nlocation_id 768\n",
		"PCI_SLOT_NAME=0000:03:00.0\nPCI_ID=8086:56C0\n")
	f.Fuzz(func(t *testing.T, nvidia, kfd, drm string) {
		tree, err := txtar.FS(&txtar.Archive{Files: []txtar.File{
			{Name: "proc/driver/nvidia/gpus/0000:01:00.0/information", Data: []byte(nvidia)},
			{Name: "sys/class/kfd/kfd/topology/nodes/1/properties", Data: []byte(kfd)},
			{Name: "sys/class/drm/renderD128/device/uevent", Data: []byte(drm)},
		}})
		if err != nil {
			t.Fatal(err)
		}
		gpus, _ := Find(tree)
		if len(gpus) > 3 {
			t.Errorf("%d GPUs in three files", len(gpus))
		}
		for _, g := range gpus {
			if g.Address == "" || g.Unfit == "" && (len(g.Devices) == 0 || g.UUID == "" || !identifier(g.UUID)) {
				t.Errorf("half a GPU: %+v", g)
			}
		}
	})
}
