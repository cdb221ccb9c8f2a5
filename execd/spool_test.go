package execd

import (
	"os"
	"syscall"
	"testing"

	"github.com/hashicorp/go-hclog"
)

// TestEpochFile: no other user may write the file that decides whose commands are accepted,
// whatever umask execd was started with.
func TestEpochFile(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	d := &daemon{}
	d.Dir, d.Logger = t.TempDir(), hclog.NewNullLogger()
	d.saveEpoch(7)
	info, err := os.Stat(d.epochPath())
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Error(info.Mode(), err)
	}
}
