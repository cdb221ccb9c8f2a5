package session

import (
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// The placeholders of drmaa_attributes(3), and what stands for them in Grid
// Engine's paths.
const (
	homePlace  = "$drmaa_hd_ph$"
	workPlace  = "$drmaa_wd_ph$"
	indexPlace = "$drmaa_incr_ph$"

	home  = "$HOME"
	index = "$TASK_ID"
)

// places sets the working directory and the paths of a job. The host of a path
// says nothing without transfer_files: files are where the job runs.
func (s said) places(spec *grid.JobSpec, bulk bool) error {
	if v, ok := s.one(workingDirectory); ok {
		dir, err := expandPath(v, "", bulk)
		if err != nil {
			return err
		}
		spec.Cwd = dir
	}
	dir := spec.Cwd
	if dir == "" {
		dir = home
	}
	for _, p := range []struct {
		name string
		list *grid.Names
	}{{inputPath, &spec.Stdin}, {outputPath, &spec.Stdout}, {errorPath, &spec.Stderr}} {
		v, ok := s.one(p.name)
		if !ok {
			continue
		}
		_, path, _ := strings.Cut(v, ":")
		path, err := expandPath(path, dir, bulk)
		if err != nil {
			return err
		}
		*p.list = grid.Names{":" + path}
	}
	return nil
}

// expandPath replaces the placeholders of a path: those of directories at its
// beginning, the index anywhere. work is empty for the working directory itself.
func expandPath(path, work string, bulk bool) (string, error) {
	if rest, ok := strings.CutPrefix(path, homePlace); ok {
		path = home + rest
	} else if rest, ok := strings.CutPrefix(path, workPlace); ok && work != "" {
		path = work + rest
	}
	for _, p := range []string{homePlace, workPlace} {
		if strings.Contains(path, p) {
			return "", failf(DeniedByDRM, "placeholder %q is not allowed here: %s", p, path)
		}
	}
	if strings.Contains(path, indexPlace) && !bulk {
		return "", failf(DeniedByDRM, "increment placeholder %q is only allowed in pathes for bulk jobs", indexPlace)
	}
	return strings.ReplaceAll(path, indexPlace, index), nil
}
