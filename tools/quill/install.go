package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/go-hclog"
	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/execd"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/opt"
)

// linksCommand makes a symbolic link to this program for every command of
// Grid Engine.
func linksCommand(opt.Env) *cli.Command {
	return &cli.Command{
		Name: "links", Usage: "make links named qsub, qstat, ... to this program", ArgsUsage: "DIR",
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return errors.New("links: needs the directory for the links")
			}
			return link(c.Args().First())
		},
	}
}

func link(dir string) error {
	target, err := os.Executable()
	if err != nil {
		return err
	}
	if abs, err := filepath.Abs(dir); err == nil && filepath.Dir(target) == abs {
		target = filepath.Base(target)
	}
	for _, name := range gridNames() {
		if err := linkTo(target, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// linkTo makes one link, or has it lead elsewhere: who runs it meanwhile finds
// the old or the new one.
func linkTo(target, path string) error {
	if now, err := os.Readlink(path); err == nil && now == target {
		return nil
	}
	fresh := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := os.Symlink(target, fresh); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}

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
		err = link(bin)
	}
	complain(err)
	if library, ok := installed("libdrmaa.so"); ok {
		if err = os.MkdirAll(lib, 0o755); err == nil {
			err = linkTo(library, filepath.Join(lib, "libdrmaa.so"))
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
