package submit

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/switches"
)

// yesValue returns the value function of a parameter that is sent only when it is true.
func yesValue(of func(*grid.Job) bool) func(*grid.Job, Client) string {
	return func(j *grid.Job, _ Client) string {
		if of(j) {
			return "y"
		}
		return ""
	}
}

// shellValue is empty unless the job was submitted with -shell n.
func shellValue(j *grid.Job, _ Client) string {
	if j.Spec.NoShell {
		return "n"
	}
	return ""
}

func namesValue(of func(*grid.Job) grid.Names) func(*grid.Job, Client) string {
	return func(j *grid.Job, _ Client) string { return strings.Join(of(j), ",") }
}

func number32(of func(*grid.Job) uint32) func(*grid.Job, Client) string {
	return func(j *grid.Job, _ Client) string { return notZero(int64(of(j))) }
}

func notZero(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// timeValue returns the value function of a time, CCYYMMDDhhmm.SS.
func timeValue(of func(*grid.Job) grid.Time) func(*grid.Job, Client) string {
	return func(j *grid.Job, from Client) string {
		if of(j) == 0 {
			return ""
		}
		return of(j).Std().In(from.Now.Location()).Format("200601021504.05")
	}
}

func valueList(list grid.Values) string {
	var out []string
	for _, v := range list {
		if v.Text == "" {
			out = append(out, v.Name)
			continue
		}
		out = append(out, v.Name+"="+v.Text)
	}
	return strings.Join(out, ",")
}

func ckptInterval(j *grid.Job, _ Client) string {
	if j.CkptSeconds == 0 {
		return ""
	}
	return grid.FormatTimeSpan(float64(j.CkptSeconds))
}

// neverCheckpointed: of c_interval and c_occasion the last one counts, qsub(1).
func neverCheckpointed(j *grid.Job) { j.CkptWhen, j.CkptSeconds = "", 0 }

// accountValue is what -A says; qmaster knows what it is without.
func accountValue(j *grid.Job, from Client) string {
	if from.Context == "server" {
		return cmp.Or(j.Account, grid.DefaultAccount)
	}
	return j.Account
}

// mailTo returns the recipients of mails; without -M it is the submitting user.
func mailTo(j *grid.Job, from Client) string {
	if len(j.Spec.MailTo) == 0 {
		return from.User + "@" + from.Host
	}
	return strings.Join(j.Spec.MailTo, ",")
}

func holdsValue(j *grid.Job, _ Client) (letters string) {
	for _, h := range []struct {
		letter string
		on     grid.Ranges
	}{{"u", j.UserHold}, {"o", j.OperHold}, {"s", j.SysHold}} {
		if len(h.on) > 0 {
			letters += h.letter
		}
	}
	return letters
}

// slotsValue returns the value function of an end of the slot range.
func slotsValue(of func(grid.Ranges) uint32) func(*grid.Job, Client) string {
	return func(j *grid.Job, _ Client) string {
		if j.PE == "" || len(j.PERange) == 0 {
			return ""
		}
		if n := of(j.PERange); n != grid.Open {
			return strconv.FormatUint(uint64(n), 10)
		}
		return strconv.Itoa(infinitely)
	}
}

// infinitely many slots, as Grid Engine writes it.
const infinitely = 9999999

func taskValue(of func(grid.Range) uint32) func(*grid.Job, Client) string {
	return func(j *grid.Job, _ Client) string {
		if !j.Array {
			return ""
		}
		return notZero(int64(of(j.Tasks)))
	}
}

// setBoolean sets a parameter whose switch takes y[es]|n[o].
func setBoolean(s *Submission, p param, value string) error {
	var is bool
	if err := readBoolean(p, value, &is); err != nil {
		return err
	}
	return p.applySwitch(s, value)
}

// readBoolean reads a parameter that is y[es]|n[o] and cannot be deleted.
func readBoolean(p param, value string, is *bool) error {
	if value == "" {
		return switches.Errorf("JSV tries to delete boolean parameter %q", p.name)
	}
	yes, ok := switches.YesNo(value)
	if !ok {
		return switches.Errorf("JSV tries to set %q to %q", p.name, value)
	}
	*is = yes
	return nil
}

func setDisplay(s *Submission, _ param, value string) error {
	s.Job.Spec.Env = s.Job.Spec.Env.With("DISPLAY", value)
	return nil
}

// setContextOf is ac, all of the context.
func setContextOf(s *Submission, _ param, value string) error {
	s.context = grid.Assigned{}
	if value != "" {
		if err := setContext("ac")(s, []string{value}); err != nil {
			return err
		}
	}
	s.Job.Spec.Context = s.context.Values()
	return nil
}

// setHolds is h, the letters of qalter's -h.
func setHolds(s *Submission, p param, value string) error {
	if strings.Trim(value, "uosn") != "" {
		return switches.Errorf("JSV tries to set %q to %q", p.name, value)
	}
	on := func(letter string) grid.Ranges {
		if strings.Contains(value, "n") || !strings.Contains(value, letter) {
			return nil
		}
		return grid.Ranges{switches.Exact(s.Job.Tasks)}
	}
	s.Job.UserHold, s.Job.OperHold, s.Job.SysHold = on("u"), on("o"), on("s")
	return nil
}

// setPE is one of pe_name, pe_min and pe_max. Without a name there are no slots
// to ask for.
func setPE(s *Submission, p param, value string) error {
	j := s.Job
	if p.name == "pe_name" {
		j.PE = value
		switch {
		case value == "":
			j.PERange = nil
		case len(j.PERange) == 0:
			j.PERange = grid.Ranges{{First: 1, Last: 1, Step: 1}}
		}
		return nil
	}
	if value == p.value(j, Client{}) {
		return nil // what is between the ends stays
	}
	n, err := switches.Number(value)
	if err != nil || n == 0 {
		return switches.Errorf("JSV tries to set %q to %q", p.name, value)
	}
	r := grid.Range{First: 1, Last: n, Step: 1}
	if len(j.PERange) > 0 {
		r.First, r.Last = j.PERange.First(), j.PERange[len(j.PERange)-1].Last
	}
	if n >= infinitely {
		n = grid.Open
	}
	if p.name == "pe_min" {
		r.First = n
	} else {
		r.Last = n
	}
	j.PERange = grid.Ranges{r}
	return nil
}

// setTasks is one of t_min, t_max and t_step. A job that is given one is an array.
func setTasks(s *Submission, p param, value string) error {
	j := s.Job
	if value == "" {
		j.Array, j.Tasks = false, grid.Range{First: 1, Last: 1, Step: 1}
		return nil
	}
	n, err := switches.Number(value)
	if err != nil || n == 0 {
		return switches.Errorf("invalid %s %q was passed by JSV", p.name, value)
	}
	j.Array = true
	switch p.name {
	case "t_min":
		j.Tasks.First = n
	case "t_max":
		j.Tasks.Last = n
	case "t_step":
		j.Tasks.Step = n
	}
	return nil
}
