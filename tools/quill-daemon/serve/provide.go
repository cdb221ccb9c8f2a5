package serve

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/execd"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/opt"
)

// provide puts things where programs that know Grid Engine look for them: the
// commands into $SGE_ROOT/bin/$ARC, from where Open MPI starts its daemons by
// qrsh; the DRMAA library, when it is installed beside the commands, into
// $SGE_ROOT/lib/$ARC; what verifiers source and scripts of sites call below $SGE_ROOT/util,
// utilbin and mpi; what shells source into the cell's common, once there is one.
func provide(where cell.Cell, log hclog.Logger) {
	complain := func(err error) {
		if err != nil {
			log.Warn("not everything is below $SGE_ROOT where programs look for it", "error", err)
		}
	}
	bin, lib := filepath.Join(where.Root, "bin", execd.Arch), filepath.Join(where.Root, "lib", execd.Arch)
	err := os.MkdirAll(bin, 0o755)
	if err == nil {
		err = links(bin)
	}
	complain(err)
	if library, ok := installed("libdrmaa.so"); ok {
		if err = os.MkdirAll(lib, 0o755); err == nil {
			err = cell.Link(library, filepath.Join(lib, "libdrmaa.so"))
		}
		complain(err)
	}
	for _, f := range offered {
		path := filepath.Join(where.Root, f.path)
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = offer(path, text(f.from), f.mode)
		}
		complain(err)
	}
	if _, err = os.Stat(where.Common()); err == nil {
		complain(offer(filepath.Join(where.Common(), "settings.sh"),
			fmt.Sprintf(settings, where.Root, where.Name, execd.Arch, cluster(where)), 0o644))
		complain(offer(filepath.Join(where.Common(), "settings.csh"),
			fmt.Sprintf(settingsC, where.Root, where.Name, execd.Arch, cluster(where)), 0o644))
	}
}

// links has quill make its links in a directory.
func links(dir string) error {
	quill, err := opt.Program("quill")
	if err != nil {
		return err
	}
	if out, err := exec.Command(quill, "links", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("%s links: %w: %s", quill, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// installed finds a library where `make install` and `make drmaa` put it: beside
// the folder of this program.
func installed(library string) (path string, ok bool) {
	program, err := os.Executable()
	if err == nil {
		path = filepath.Join(filepath.Dir(filepath.Dir(program)), "lib", library)
		_, err = os.Stat(path)
	}
	return path, err == nil
}

// offer writes a file that is not there yet, whole. What an administrator has
// changed stays.
func offer(path, text string, mode os.FileMode) error {
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return cell.WriteFile(path, []byte(text), mode)
}

// programs are what scripts of sites, verifiers and load sensors call below $SGE_ROOT.
//
//go:embed sgeroot
var programs embed.FS

// offered is where programs are. Those that resolve the names of hosts are one script, which looks at its own name.
var offered = []struct {
	path, from string
	mode       os.FileMode
}{
	{"util/arch", "arch.sh", 0o755},
	{"util/resources/jsv/jsv_include.sh", "jsv_include.sh", 0o644}, // jsv_script_interface(3) for Bourne shells
	{"util/resources/jsv/JSV.pm", "JSV.pm", 0o644},                 // and for Perl
	{"utilbin/" + execd.Arch + "/gethostname", "resolve.sh", 0o755},
	{"utilbin/" + execd.Arch + "/gethostbyname", "resolve.sh", 0o755},
	{"utilbin/" + execd.Arch + "/gethostbyaddr", "resolve.sh", 0o755},
	{"mpi/startmpi.sh", "startmpi.sh", 0o755},
	{"mpi/stopmpi.sh", "stopmpi.sh", 0o755},
	{"mpi/rsh", "rsh.sh", 0o755},
	{"mpi/hostname", "hostname.sh", 0o755},
}

// text returns an embedded file.
func text(name string) string {
	b, err := programs.ReadFile("sgeroot/" + name)
	if err != nil {
		panic(err) // no file can be missing in a program that was compiled
	}
	return strings.ReplaceAll(string(b), "@ARCH@", execd.Arch)
}

// cluster returns SGE_CLUSTER_NAME: the text of the file cluster_name of Grid Engine, without one the name of the cell.
func cluster(where cell.Cell) string {
	name, _ := os.ReadFile(filepath.Join(where.Common(), "cluster_name"))
	return cmp.Or(strings.TrimSpace(string(name)), where.Name)
}

// settings and settingsC are for users and scripts to source.
const (
	settings = `SGE_ROOT="%[1]s"; export SGE_ROOT
SGE_CELL="%[2]s"; export SGE_CELL
SGE_ARCH="%[3]s"; export SGE_ARCH
SGE_CLUSTER_NAME="%[4]s"; export SGE_CLUSTER_NAME
PATH="$SGE_ROOT/bin/%[3]s:$PATH"; export PATH
`
	settingsC = `setenv SGE_ROOT "%[1]s"
setenv SGE_CELL "%[2]s"
setenv SGE_ARCH "%[3]s"
setenv SGE_CLUSTER_NAME "%[4]s"
set path = ( "$SGE_ROOT/bin/%[3]s" $path:q )
`
)
