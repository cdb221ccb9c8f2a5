package execd

import (
	"io/fs"
	"testing"
	"testing/fstest"
)

// The GPUs of the host, as a job that starts finds them.
func TestGPUsOfTheHost(t *testing.T) {
	tree := fstest.MapFS{"proc/driver/nvidia/gpus/0000:07:00.0/information": {
		Data: []byte("Model: \t A100\nGPU UUID: \t GPU-6e0c\nDevice Minor: \t 3\n")}}
	f := gpuFinder{tree: tree}
	for range 2 {
		if g := f.findGPUs(); len(g) != 1 || g[0].UUID != "GPU-6e0c" || len(g[0].Files) != 1 ||
			g[0].Files[0] != "/dev/nvidia3" {
			t.Errorf("found %v", g)
		}
		delete(tree, "proc/driver/nvidia/gpus/0000:07:00.0/information") // they stay known for a while
	}
	// Drivers that do not answer take none away: the devices of other jobs would be open.
	f.at = f.at.Add(-2 * gpusFor)
	f.tree = silent{make(chan struct{})}
	if g := f.findGPUs(); len(g) != 1 {
		t.Errorf("of drivers that do not answer: %v", g)
	}
	close(f.tree.(silent).answer)
}

// silent is a tree that does not answer until it is closed.
type silent struct{ answer chan struct{} }

func (s silent) Open(string) (fs.File, error) {
	<-s.answer
	return nil, fs.ErrNotExist
}
