package validate

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// WithHint adds to a refusal of a job or of its change what the user may do about the option that it names. Job is the
// job as it was requested.
func WithHint(c *cell.Cell, refusal *gdi.Answer, job *grid.Job) *gdi.Answer {
	if refusal != nil && refusal.Status == gdi.StatusInvalid && job != nil && refusal.Hint == "" {
		refusal.Hint = hintFor(c, refusal.Field, job)
	}
	return refusal
}

// hintFor returns the hint for an option, "" when nothing is known.
func hintFor(c *cell.Cell, option string, j *grid.Job) string {
	switch option {
	case "q", "masterq":
		if j.JobRequest == nil {
			return ""
		}
		for _, q := range slices.Concat(j.HardQueues, j.SoftQueues, j.MasterQueues, j.SlaveQueues) {
			if !c.HasQueue(q) {
				return suggestQueue(c, q)
			}
		}
	case "pe":
		return suggest(c, grid.KindPE, j.PE)
	case "P":
		return suggest(c, grid.KindProject, j.Project)
	case "ckpt":
		return suggest(c, grid.KindCkpt, j.Ckpt)
	case "l":
		return suggestRequest(c, j)
	case "N":
		if j.Name == path.Base(j.Spec.Command) {
			return "the job is named after the script: give it another name with -N"
		}
	case "t":
		if limit := c.Settings().MaxTasks; j.Array && limit > 0 && j.Tasks.Count() > limit {
			return fmt.Sprintf("max_aj_tasks of sge_conf(5) is %d: submit several arrays, or have a manager change it", limit)
		}
	case "":
		if bytes.IndexByte(j.Spec.Script, 0) >= 0 {
			return "the script is a program: submit it with -b y"
		}
	}
	return ""
}

// suggest returns the name of a kind that is nearest to one that does not exist.
func suggest(c *cell.Cell, k grid.Kind, unknown string) string {
	if c.State.Get(k, grid.Key{Name: unknown}) != nil {
		return ""
	}
	return pattern.Suggest(unknown, func(yield func(string) bool) {
		c.State.Each(k, func(o grid.Object) bool { return yield(o.Key().Name) })
	})
}

// suggestQueue returns the cluster queue or queue instance that is nearest to one that does not exist.
func suggestQueue(c *cell.Cell, unknown string) string {
	if strings.Contains(unknown, "@") {
		return suggest(c, grid.KindQInstance, unknown)
	}
	return suggest(c, grid.KindCQueue, unknown)
}

// suggestRequest returns the attribute or host that is nearest to one of -l that does not exist.
func suggestRequest(c *cell.Cell, j *grid.Job) string {
	if j.JobRequest == nil {
		return ""
	}
	for _, r := range slices.Concat(j.Hard, j.Soft, j.MasterHard, j.SlaveHard) {
		switch a := c.Cluster.Attribute(r.Name); {
		case a == nil:
			return suggest(c, grid.KindCentry, r.Name)
		case a.Name == "hostname" && strangeHost(c, grid.Requests{{Name: a.Name, Value: r.Value}}) != "":
			return suggest(c, grid.KindExecHost, r.Value)
		}
	}
	return ""
}

// HintAbout returns the name that is nearest to the object that an answer is about and that does not exist.
func HintAbout(c *cell.Cell, about *gdi.Subject) string {
	switch {
	case about == nil:
	case about.Queue != "":
		return suggestQueue(c, about.Queue)
	case about.Kind != 0 && grid.SpecOf(about.Kind).Qconf != "":
		return suggest(c, about.Kind, about.Name)
	}
	return ""
}

// WarnOfScript warns of a script that its shell cannot read as its author means it.
func WarnOfScript(c *cell.Cell, j *grid.Job) (warnings []gdi.Answer) {
	first, _, _ := bytes.Cut(j.Spec.Script, []byte("\n"))
	if bytes.HasSuffix(first, []byte("\r")) {
		warnings = append(warnings, gdi.Warn(
			"warning: the lines of the script end with CR LF, and the shell takes the CR for a part of them: convert the script with dos2unix"))
	}
	interpreter, wants := wantedInterpreter(string(first))
	if !wants || len(j.Spec.Shell) > 0 {
		return warnings
	}
	for _, q := range c.State.CQueues() {
		if q.ShellStartMode.Value == "posix_compliant" && mayUse(c, j, q) && path.Base(q.Shell.Value) != interpreter {
			return append(warnings, gdi.Warn(fmt.Sprintf(
				"warning: shell_start_mode of queue %s is posix_compliant: %s runs the script, not the %s of its first line; submit it with -S PATH, or with -b y if it is executable",
				q.Name, q.Shell.Value, interpreter)))
		}
	}
	return warnings
}

// wantedInterpreter returns the name of the program that the first line of a script asks for, and whether it is one
// that no other can stand for. The Bourne shells can.
func wantedInterpreter(line string) (name string, wants bool) {
	line, ok := strings.CutPrefix(line, "#!")
	words := strings.Fields(line)
	if !ok || len(words) == 0 {
		return "", false
	}
	if path.Base(words[0]) == "env" {
		words = slices.DeleteFunc(words[1:], func(w string) bool { return w[0] == '-' || strings.Contains(w, "=") })
	}
	if len(words) == 0 {
		return "", false
	}
	name = path.Base(words[0])
	return name, !slices.Contains([]string{"sh", "bash", "dash", "ash", "ksh", "zsh"}, name)
}

// mayUse reports whether a job without -q, or with one that names the queue or its instances, may run there.
func mayUse(c *cell.Cell, j *grid.Job, q *grid.CQueue) bool {
	return len(j.HardQueues) == 0 || slices.ContainsFunc(j.HardQueues, func(ref string) bool {
		return ref == q.Name ||
			slices.ContainsFunc(c.MatchingInstances(ref), func(i *grid.QInstance) bool { return i.Queue == q.Name })
	})
}
