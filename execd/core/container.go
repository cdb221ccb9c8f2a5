package core

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/pkg/report"
)

// A job with a request for a container is started by the command line that container_starters of sge_conf(5) has for
// its image:
//
//	STARTER WORDS  then the job's own command line
//
// Variables are replaced word by word, and no shell reads the line. The starter runs as the job's owner.

// planContainer finds the starter of the job's container. It fails when the host cannot start it, which is the host's
// fault, or when there can be no such container, which is the job's.
func (w *planner) planContainer() error {
	r, asked := w.job.Hard.Get(grid.ContainerRequest)
	if !asked {
		return nil
	}
	if r.Value == "" || strings.HasPrefix(r.Value, "-") || strings.ContainsFunc(r.Value, func(c rune) bool {
		return c < ' ' || c == 0x7f
	}) {
		return &Refusal{report.FailedShell, fmt.Sprintf("%q is no image of a container", r.Value)}
	}
	i := slices.IndexFunc(w.conf.Starters, func(s grid.Starter) bool { return pattern.Match(s.Pattern, r.Value) })
	if i < 0 {
		return &Refusal{report.FailedShell, fmt.Sprintf("container_starters of host %s have none for the image %q",
			w.site.Host, r.Value)}
	}
	words := w.conf.Starters[i].Words
	if err := w.local.Executable(words[0]); err != nil {
		return &Refusal{report.FailedBeforeProlog, fmt.Sprintf("container starter %s of host %s: %v", words[0],
			w.site.Host, err)}
	}
	w.image = r.Value
	if isImageFile(w.image) {
		w.image = w.absolutePath(w.image)
		w.imageFile = w.image
	}
	for _, word := range words {
		w.inside = append(w.inside, w.expandStarterWord(word)...)
	}
	return nil
}

// isImageFile reports whether an image is named by a path, and not by what a registry calls it.
func isImageFile(image string) bool {
	return strings.HasSuffix(image, ".sif") || strings.HasPrefix(image, "/") || strings.HasPrefix(image, "./") ||
		strings.HasPrefix(image, "../") || strings.HasPrefix(image, "~/")
}

// expandStarterWord replaces the variables of a word. One with $bind, $uuid or $device stands once for each path or
// device, and not at all where there are none. What stands in place of a variable is not read again: paths and images
// may have a $ in them.
func (w *planner) expandStarterWord(word string) (out []string) {
	values := map[string]string{"image": w.image, "cwd": w.p.Cwd, "tmpdir": w.tmpDir}
	variable := func(name string) (string, bool) {
		if v, ok := values[name]; ok {
			return v, true
		}
		return w.valueOf(name)
	}
	for _, many := range []struct {
		name string
		list func() []string
	}{{"bind", w.bindPaths}, {"uuid", func() []string { return w.gpuNames }}, {"device", w.deviceFiles}} {
		if !hasVariable(word, many.name) {
			continue
		}
		for _, one := range many.list() {
			values[many.name] = one
			out = append(out, expandWord(word, variable))
		}
		return out
	}
	return []string{expandWord(word, variable)}
}

// hasVariable reports whether a word has a variable.
func hasVariable(word, name string) (found bool) {
	expandWord(word, func(n string) (string, bool) {
		found = found || n == name
		return "", false
	})
	return found
}

// deviceFiles are the device files of the instances that the task has on this host.
func (w *planner) deviceFiles() (paths []string) {
	for _, d := range wholeDevices(w.start.Deliver.Devices, w.hostGPUs()) {
		if d.Access != 0 {
			paths = append(paths, d.Path)
		}
	}
	return paths
}

// bindPaths returns the paths of the host that the job needs inside.
func (w *planner) bindPaths() (paths []string) {
	add := func(path string) {
		if path != "" && path != "/" && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	add(w.p.Cwd)
	add(w.tmpDir)
	add(w.p.Spool)
	if !w.job.Binary {
		add(w.script)
	}
	add(w.site.Root)
	add(w.site.BinaryPath)
	return paths
}

// containedStep puts the starter before a command line of the job.
func (w *planner) containedStep(s plan.Step) plan.Step {
	if w.inside == nil {
		return s
	}
	s.Needs = w.imageFile
	if !s.Front { // else the program in front puts it before the command
		s.Argv, s.Login = append(slices.Clone(w.inside), s.Argv...), false
	}
	return s
}
