package main

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/opt"
)

// The scripts ask `quill complete WORD...` for what may stand in place of the last word.
//
//go:embed completion
var completions embed.FS

// shells are those that a script is there for: where it lies below a directory as /usr/share, and whether the shell
// looks for a file for each command.
var shells = []struct {
	name, file string
	each       bool
}{
	{"bash", "bash-completion/completions/quill", true},
	{"zsh", "zsh/site-functions/_quill", false},
	{"fish", "fish/vendor_completions.d/quill.fish", true},
}

// completionCommand prints the script with which a shell completes the words of all commands, or installs all.
func completionCommand(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print the completion script of a shell", ArgsUsage: "[bash|zsh|fish]",
		Flags: []cli.Flag{&cli.StringFlag{Name: "install",
			Usage: "write the scripts of all shells below `DIR`, which is as /usr/share"}},
		Action: func(c *cli.Context) error {
			dir, done := c.String("install"), false
			for _, shell := range shells {
				var err error
				switch script := completionScript(shell.name); {
				case dir != "" && c.NArg() == 0:
					err = installScript(filepath.Join(dir, shell.file), script, shell.each)
				case dir == "" && c.NArg() == 1 && shell.name == c.Args().First():
					_, err = fmt.Fprint(env.Stdout, script)
				default:
					continue
				}
				if err != nil {
					return err
				}
				done = true
			}
			if !done {
				return opt.Usagef("completion: needs one of bash, zsh, fish, or --install DIR")
			}
			return nil
		},
	}
}

// completionScript returns the script of a shell.
func completionScript(shell string) string {
	script, _ := completions.ReadFile("completion/quill." + shell) // embedded: it is there
	return strings.ReplaceAll(string(script), "@COMMANDS@", strings.Join(append(gridNames(), "quill"), " "))
}

// installScript writes a script and, for a shell that looks for each command, links to it.
func installScript(path, script string, each bool) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(script), 0o644); err != nil || !each {
		return err
	}
	for _, name := range gridNames() {
		if err := cell.Link(filepath.Base(path), filepath.Join(filepath.Dir(path), name+filepath.Ext(path))); err != nil {
			return err
		}
	}
	return nil
}

// complete prints what may stand in place of the last of the words of a command line. The command's program answers.
func complete(env opt.Env, words []string) int {
	name, words := filepath.Base(words[0]), words[1:]
	if name == "quill" && len(words) > 1 && gridEngine[words[0]] != nil {
		name, words = words[0], words[1:]
	}
	if run := gridEngine[name]; run != nil {
		return run(env.Completing(), words)
	}
	request := append([]string{opt.CompleteWord}, words...)
	if program := holder(words); program != "" && len(words) > 1 {
		return become(env, program, request)
	}
	app := menu()
	for _, name := range gridNames() {
		app.Commands = append(app.Commands, &cli.Command{Name: name})
	}
	return opt.RunMenu(env, app, quillCommands, request)
}
