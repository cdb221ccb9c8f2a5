package validate

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

func validPE(c *cell.Cell, o grid.Object) string {
	p := o.(*grid.PE)
	if t := Name("parallel environment", p.Name); t != "" {
		return t
	}
	switch p.AllocationRule {
	case "$pe_slots", "$fill_up", "$round_robin":
	default:
		if n, err := strconv.Atoi(p.AllocationRule); err != nil || n < 1 {
			return fmt.Sprintf(
				"parameter allocation_rule of pe %q: %q is none of $pe_slots, $fill_up, $round_robin or a number of slots", p.Name,
				p.AllocationRule)
		}
	}
	switch p.UrgencySlots {
	case "", "min", "max", "avg":
	default:
		if n, err := strconv.Atoi(p.UrgencySlots); err != nil || n < 0 {
			return fmt.Sprintf("rejecting invalid urgency_slots setting %q", p.UrgencySlots)
		}
	}
	return cmp.Or(badSlots(int64(p.Slots)), badProcArgs(p.Name, "start_proc_args", p.StartProcArgs),
		badProcArgs(p.Name, "stop_proc_args", p.StopProcArgs),
		bothLists("parallel environment", p.Name, p.UserLists, p.XUserLists))
}

func peRefers(c *cell.Cell, o grid.Object) *gdi.Answer {
	p := o.(*grid.PE)
	return cmp.Or(missing(c, "user_lists", grid.KindUserset, p.UserLists),
		missing(c, "xuser_lists", grid.KindUserset, p.XUserLists))
}

// peWithoutEffect reports that a library that sorts queue instances is not loaded.
func peWithoutEffect(old, new grid.Object) []string {
	p := new.(*grid.PE)
	if was, ok := old.(*grid.PE); p.QsortArgs == "" || strings.EqualFold(p.QsortArgs, "none") || ok &&
		was.QsortArgs == p.QsortArgs {
		return nil
	}
	return []string{
		fmt.Sprintf(
			"qsort_args of %q is stored but has no effect: no libraries are loaded, queue instances are ordered by queue_sort_method", p.Name)}
}

// badSlots refuses more slots than Grid Engine counts.
func badSlots(n int64) string {
	if n < 0 || n > 9999999 {
		return fmt.Sprintf("%d is an invalid value for the \"slots\" attribute - it must be a value between 0 and 9999999", n)
	}
	return ""
}

// procVariables are what start_proc_args and stop_proc_args may refer to,
// sge_pe(5).
var procVariables = grid.Names{"pe_hostfile", "host", "job_owner", "job_id", "job_name", "pe", "pe_slots",
	"processors", "queue",
	"sge_root", "sge_cell", "stdin_path", "stdout_path", "stderr_path", "merge_stderr", "fs_stdin_host", "fs_stdin_path",
	"fs_stdin_tmp_path", "fs_stdin_file_staging", "fs_stdout_host", "fs_stdout_path", "fs_stdout_tmp_path",
	"fs_stdout_file_staging", "fs_stderr_host", "fs_stderr_path", "fs_stderr_tmp_path", "fs_stderr_file_staging"}

// badProcArgs finds a program that is no absolute path, perhaps of a user (user@path), or
// a variable that is not known.
func badProcArgs(pe, attribute, text string) string {
	if !grid.IsProgram(text) {
		return fmt.Sprintf("denied: path given for %q must start with a \"/\"", attribute)
	}
	for rest := text; ; {
		_, after, found := strings.Cut(rest, "$")
		if !found {
			return ""
		}
		name := after
		if i := strings.IndexFunc(after, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }); i >= 0 {
			name = after[:i]
		}
		if !procVariables.Has(name) {
			return fmt.Sprintf("parameter %s of pe %q: unknown variable %q", attribute, pe, name)
		}
		rest = after
	}
}

func peInUse(c *cell.Cell, o grid.Object) string {
	name := o.Key().Name
	return referenced(c, "denied: Parallel environment", name, "queue",
		func(j *grid.Job) bool { return j.PE == name },
		func(q *grid.CQueue) []grid.Names { return cell.AllValues(q.PEList) })
}

// referenced names the first job or cluster queue that still needs an object.
func referenced(
	c *cell.Cell, what, name, list string, byJob func(*grid.Job) bool, byQueue func(*grid.CQueue) []grid.Names,
) string {
	return cmp.Or(
		c.EachJob(func(j *grid.Job) string {
			if byJob(j) {
				return fmt.Sprintf("%s %q is still referenced in job %d.", what, name, j.ID)
			}
			return ""
		}),
		c.EachCQueue(func(q *grid.CQueue) string {
			for _, l := range byQueue(q) {
				if l.Has(name) {
					return fmt.Sprintf("%s %q is still referenced in %s %q.", what, name, list, q.Name)
				}
			}
			return ""
		}))
}

func validUserset(_ *cell.Cell, o grid.Object) string {
	u := o.(*grid.Userset)
	if t := Name("userset", u.Name); t != "" {
		return t
	}
	for _, w := range strings.Fields(u.Type) {
		if w != "ACL" && w != "DEPT" {
			return fmt.Sprintf("denied: unknown userset type %q", u.Type)
		}
	}
	switch department := strings.Contains(u.Type, "DEPT"); {
	case u.FShare != 0 && !department:
		return `not allowed to set "fshare" for ACL lists`
	case u.OTicket != 0 && !department:
		return `not allowed to set "oticket" for ACL lists`
	}
	return ""
}

func usersetInUse(c *cell.Cell, o grid.Object) string {
	name := o.Key().Name
	uses := func(lists ...grid.Names) bool {
		for _, l := range lists {
			if l.Has(name) {
				return true
			}
		}
		return false
	}
	for _, h := range c.State.ExecHosts() {
		if uses(h.UserLists, h.XUserLists) {
			return fmt.Sprintf("denied: userset %q is still referenced in host %q", name, h.Name)
		}
	}
	for _, p := range c.State.PEs() {
		if uses(p.UserLists, p.XUserLists) {
			return fmt.Sprintf("denied: userset %q is still referenced in parallel environment %q", name, p.Name)
		}
	}
	for _, o := range c.All(grid.KindProject) {
		if p := o.(*grid.Project); uses(p.ACL, p.XACL) {
			return fmt.Sprintf("denied: userset %q is still referenced in project %q", name, p.Name)
		}
	}
	for _, list := range []string{"user_lists", "xuser_lists"} {
		if uses(cell.ConfNames(c.Param(list))) {
			return fmt.Sprintf("denied: userset %q is still referenced in %s of the configuration", name, list)
		}
	}
	return c.EachCQueue(func(q *grid.CQueue) string {
		if uses(append(cell.AllValues(q.UserLists), cell.AllValues(q.XUserLists)...)...) {
			return fmt.Sprintf("denied: userset %q is still referenced in user list of queue %q", name, q.Name)
		}
		return ""
	})
}

func validProject(c *cell.Cell, o grid.Object) string {
	p := o.(*grid.Project)
	return cmp.Or(Name("project", p.Name), bothLists("project", p.Name, p.ACL, p.XACL))
}

func projectRefers(c *cell.Cell, o grid.Object) *gdi.Answer {
	p := o.(*grid.Project)
	return cmp.Or(missing(c, "acl", grid.KindUserset, p.ACL), missing(c, "xacl", grid.KindUserset, p.XACL))
}

func projectInUse(c *cell.Cell, o grid.Object) string {
	name := o.Key().Name
	for _, h := range c.State.ExecHosts() {
		if h.Projects.Has(name) || h.XProjects.Has(name) {
			return fmt.Sprintf("denied: project %q is still referenced in host %q", name, h.Name)
		}
	}
	for _, list := range []string{"projects", "xprojects"} {
		if cell.ConfNames(c.Param(list)).Has(name) {
			return fmt.Sprintf("denied: project %q is still referenced in %s of the configuration", name, list)
		}
	}
	for _, o := range c.All(grid.KindUser) {
		if u := o.(*grid.User); u.DefaultProject == name {
			return fmt.Sprintf("project %q is still referenced by user %q", name, u.Name)
		}
	}
	return cmp.Or(inShareTree(c, "project", name), referenced(c, "denied: project", name, "projects of queue",
		func(j *grid.Job) bool { return j.Project == name },
		func(q *grid.CQueue) []grid.Names {
			return append(cell.AllValues(q.Projects), cell.AllValues(q.XProjects)...)
		}))
}
