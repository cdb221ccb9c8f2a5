package attack

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/quill-grid/quill/tools/attack/attacker"
)

// canaries are what only its owner may read or write.
type canaries struct {
	s *site

	env, script, connect string // what the honest user's jobs carry
	own, root            string // what stands in files of the honest user and of root

	ownFile, ownDir   string
	rootFile, rootDir string // what is made in the directory was made by root
	script_           string // the honest user's job
	step              string // prolog and epilog, run as root
	mailer, mailed    string // the mailer, and what it was given
	verified          string // what the verifier of jobs was sent
}

// newCanaries makes them.
func newCanaries(s *site) (*canaries, error) {
	secret := func() string { return "canary" + rand.Text() }
	c := &canaries{
		s: s, env: secret(), script: secret(), connect: secret(), own: secret(), root: secret(),
		ownFile: filepath.Join(s.honest.home, "secret"), ownDir: filepath.Join(s.honest.home, "closed"),
		rootFile: filepath.Join(s.dir, "root", "secret"), rootDir: filepath.Join(s.dir, "root", "closed"),
		script_: filepath.Join(s.honest.home, "job.sh"),
		step:    filepath.Join(s.dir, "steps", "step"), mailer: filepath.Join(s.dir, "steps", "mailer"),
		mailed:   filepath.Join(s.dir, "root", "mailed"),
		verified: filepath.Join(s.dir, "root", "verified"),
	}
	steps := []error{
		os.Mkdir(filepath.Join(s.dir, "root"), 0o700), os.Mkdir(c.rootDir, 0o700),
		os.Mkdir(filepath.Join(s.dir, "steps"), 0o755),
		os.WriteFile(c.rootFile, []byte(c.root), 0o600),
		os.WriteFile(filepath.Join(c.rootDir, "kept"), []byte(c.root), 0o600),
		os.WriteFile(c.mailed, nil, 0o600),
		program(c.step, stepText), program(c.mailer, fmt.Sprintf(mailerText, c.mailed)),
		os.Mkdir(c.ownDir, 0o700), os.WriteFile(filepath.Join(c.ownDir, "kept"), []byte(c.own), 0o600),
		os.WriteFile(c.ownFile, []byte(c.own), 0o600),
		os.WriteFile(c.script_, []byte("#!/bin/sh\n# "+c.script+"\nexit 0\n"), 0o700),
	}
	for _, path := range []string{c.ownDir, filepath.Join(c.ownDir, "kept"), c.ownFile, c.script_} {
		steps = append(steps, s.own(path, s.honest))
	}
	return c, errors.Join(steps...)
}

func program(path, text string) error {
	return errors.Join(os.WriteFile(path, []byte(text), 0o755), os.Chmod(path, 0o755))
}

// stepText is what a careless administrator writes: bash, and commands without a path.
const stepText = "#!/bin/bash\ndate >/dev/null\nexit 0\n"

const mailerText = "#!/bin/sh\n{ for word in \"$@\"; do printf '<%%s>' \"$word\"; done; echo; } >>%s\ncat >/dev/null\n"

// secrets are the texts that the attacker looks for.
func (c *canaries) secrets() map[string]string {
	return map[string]string{
		"environment of another user's job": c.env, "script of another user's job": c.script,
		"file of another user": c.own, "file of root": c.root,
	}
}

// closed are the files and directories that the attacker must not read or write.
func (c *canaries) closed() []string {
	return []string{c.ownFile, c.ownDir, c.rootFile, c.rootDir, c.script_}
}

// check returns what was done to the files.
func (c *canaries) check() (breaches []string) {
	say := func(format string, args ...any) { breaches = append(breaches, fmt.Sprintf(format, args...)) }
	for _, f := range []struct{ path, want, whose string }{
		{c.ownFile, c.own, c.s.honest.name}, {filepath.Join(c.ownDir, "kept"), c.own, c.s.honest.name},
		{c.rootFile, c.root, "root"}, {filepath.Join(c.rootDir, "kept"), c.root, "root"},
	} {
		text, err := os.ReadFile(f.path)
		switch {
		case err != nil:
			say("a file of %s is gone: %v", f.whose, err)
		case string(text) != f.want:
			say("a file of %s was written: %s", f.whose, f.path)
		}
	}
	whose := []string{"root", c.s.honest.name}
	for i, dir := range []string{c.rootDir, c.ownDir} {
		files, err := os.ReadDir(dir)
		if err != nil {
			say("a closed directory is gone: %v", err)
		}
		for _, file := range files {
			if file.Name() != "kept" {
				say("made in a closed directory of %s: %s", whose[i], attacker.Pattern(file.Name()))
			}
		}
	}
	mailed, _ := os.ReadFile(c.mailed)
	for line := range strings.Lines(string(mailed)) {
		if words := strings.Split(line, "><"); len(words) > 2 && strings.HasPrefix(words[2], "-") {
			say("the mailer was given an option by a user: %s", strings.TrimSpace(line))
			break
		}
	}
	slices.Sort(breaches)
	return slices.Compact(breaches)
}
