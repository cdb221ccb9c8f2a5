package core

import (
	"strings"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// planStreams sets the paths of standard input, output and error: qsub -i -o -e
// -j. $JOB_ID and the like follow submit(1).
func (w *planner) planStreams() {
	p := &w.p
	if path, ok := pathForHost(w.spec.Stdin, w.site.Host); ok && path != "/dev/null" {
		p.Stdin = w.absolutePath(path)
	}
	p.Stdout = w.outputPath(w.spec.Stdout, "o")
	if !w.spec.Merge {
		p.Stderr = w.outputPath(w.spec.Stderr, "e")
	}
}

// outputPath returns one output path; a directory gets the default name below it. kind is o
// or e, po or pe for PE procedures.
func (w *planner) outputPath(paths []string, letters string) plan.Output {
	path, ok := pathForHost(paths, w.site.Host)
	if !ok {
		return plan.Output{Path: joinPath(w.p.Cwd, w.defaultName(letters))}
	}
	path = w.absolutePath(path)
	if path == "/dev/null" {
		return plan.Output{Path: path}
	}
	name := w.defaultName(letters)
	if strings.HasSuffix(path, "/") {
		return plan.Output{Path: path + name}
	}
	switch is, known := w.local.IsDir(path); {
	case !known:
		return plan.Output{Path: path, Name: name}
	case is:
		return plan.Output{Path: joinPath(path, name)}
	}
	return plan.Output{Path: path}
}

func joinPath(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }

// defaultName is NAME.oJOB, with .TASK in an array.
func (w *planner) defaultName(letters string) string {
	b := make([]byte, 0, len(w.job.Name)+24)
	b = append(append(append(b, w.job.Name...), '.'), letters...)
	b = append(b, utoa(w.p.Attempt.Job)...)
	if w.job.Array {
		b = append(append(b, '.'), utoa(w.p.Attempt.Task)...)
	}
	return string(b)
}

// absolutePath returns a path with its pseudo variables and a leading ~ replaced; a relative
// one is below the working directory.
func (w *planner) absolutePath(path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		path = w.owner.Home + path[1:]
	}
	if strings.Contains(path, "$") {
		task := "0"
		if w.job.Array {
			task = utoa(w.p.Attempt.Task)
		}
		// Names are replaced wherever they begin: $HOMEX is $HOME and X.
		path = strings.NewReplacer("$HOME", w.owner.Home, "$USER", w.owner.Name, "$JOB_ID", utoa(w.p.Attempt.Job),
			"$JOB_NAME", w.job.Name, "$HOSTNAME", w.site.Host, "$TASK_ID", task).Replace(path)
	}
	if !strings.HasPrefix(path, "/") {
		path = strings.TrimSuffix(w.p.Cwd, "/") + "/" + path
	}
	return path
}

// pathForHost returns the path of a list of [host:]path that is for the host, else the
// first for any host.
func pathForHost(paths []string, host string) (string, bool) {
	any, found := "", false
	for _, p := range paths {
		h, path, named := strings.Cut(p, ":")
		switch {
		case !named && !found:
			any, found = p, true
		case named && h == "" && !found:
			any, found = path, true
		case named && h != "" && grid.SameHost(h, host):
			return path, true
		}
	}
	return any, found
}

// stderrPath returns SGE_STDERR_PATH: the output path when merged.
func (w *planner) stderrPath() string {
	if w.spec.Merge {
		return w.p.Stdout.Path
	}
	return w.p.Stderr.Path
}

func devNull(path string) string {
	if path == "" {
		return "/dev/null"
	}
	return path
}

// OutputFile returns the file of standard output, or of standard error, of a task of a job. If Name is set and Path is
// a directory, it is the file of that name there.
func (s *Site) OutputFile(r *report.Read, owner Account) plan.Output {
	f := &r.Files
	w := planner{
		site: s, owner: &owner, job: &grid.Job{Name: f.Name, Array: f.Array}, spec: &grid.JobSpec{Cwd: f.Cwd},
		local: Local{IsDir: func(string) (is, known bool) { return false, false }},
	}
	w.p.Attempt = report.Attempt{Job: f.Job, Task: r.Task}
	w.planCwd()
	if r.Stderr {
		return w.outputPath(f.Stderr, "e")
	}
	return w.outputPath(f.Stdout, "o")
}
