package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

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
		path := filepath.Join(dir, name)
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if err := os.Symlink(target, path); err != nil {
			return err
		}
	}
	return nil
}

// unitCommand prints a daemon's systemd unit.
func unitCommand(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "unit", Usage: "print the systemd unit of qmaster, schedd or execd", ArgsUsage: "qmaster|schedd|execd",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "prefix", Value: "/usr/local", Usage: "`DIR` where the commands are installed"},
			&cli.StringFlag{Name: "root", Value: "/var/lib/quill", Usage: "SGE_ROOT of the cell: `DIR`"},
		},
		Action: func(c *cli.Context) error {
			after, extra := "network-online.target", ""
			switch c.Args().First() {
			case "qmaster":
			case "schedd":
				after += " quill-qmaster.service"
			case "execd":
				after += " quill-qmaster.service"
				extra = "# Jobs and their keeper outlive the daemon.\nKillMode=process\nDelegate=yes\n"
			default:
				return fmt.Errorf("unit: %q is none of qmaster, schedd, execd", c.Args().First())
			}
			_, err := fmt.Fprintf(env.Stdout, unit, c.Args().First(), after, c.String("root"), c.String("prefix"), extra)
			return err
		},
	}
}

const unit = `[Unit]
Description=Quill %[1]s
After=%[2]s
Wants=network-online.target

[Service]
Environment=SGE_ROOT=%[3]s
ExecStart=%[4]s/bin/quill %[1]s
Restart=on-failure
RestartSec=1
LimitNOFILE=1048576
%[5]s
[Install]
WantedBy=multi-user.target
`
