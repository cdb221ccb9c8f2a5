package serve

import (
	_ "embed"
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
// $SGE_ROOT/lib/$ARC; what verifiers source below $SGE_ROOT/util; what shells source
// into the cell's common, once there is one.
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
	util := filepath.Join(where.Root, "util")
	verifiers := filepath.Join(util, "resources", "jsv")
	if err = os.MkdirAll(verifiers, 0o755); err == nil {
		err = offer(filepath.Join(util, "arch"), fmt.Sprintf("#!/bin/sh\necho %s\n", execd.Arch), 0o755)
	}
	complain(err)
	complain(offer(filepath.Join(verifiers, "jsv_include.sh"), verifierLibrary, 0o644))
	complain(offer(filepath.Join(verifiers, "JSV.pm"), verifierModule, 0o644))
	if _, err = os.Stat(where.Common()); err == nil {
		complain(offer(filepath.Join(where.Common(), "settings.sh"), fmt.Sprintf(settings, where.Root, where.Name, execd.Arch), 0o644))
		complain(offer(filepath.Join(where.Common(), "settings.csh"), fmt.Sprintf(settingsC, where.Root, where.Name, execd.Arch), 0o644))
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

// verifierLibrary is jsv_script_interface(3) for Bourne shells.
//
//go:embed jsv_include.sh
var verifierLibrary string

// verifierModule is jsv_script_interface(3) for Perl.
//
//go:embed JSV.pm
var verifierModule string

// settings and settingsC are for users and scripts to source.
const (
	settings = `SGE_ROOT="%s"; export SGE_ROOT
SGE_CELL="%s"; export SGE_CELL
PATH="$SGE_ROOT/bin/%s:$PATH"; export PATH
`
	settingsC = `setenv SGE_ROOT "%s"
setenv SGE_CELL "%s"
set path = ( "$SGE_ROOT/bin/%s" $path:q )
`
)
