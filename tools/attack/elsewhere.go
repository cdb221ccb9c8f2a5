package attack

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// elsewhere returns the command line for what is on another machine in a real cell: the attacker's
// processes, and execd with all that it starts. It gives way to qmaster, schedd and the
// honest user's commands.
func (s *site) elsewhere(args ...string) []string {
	return append([]string{"nice", "-n", strconv.Itoa(s.nice)}, args...)
}

// startElsewhere starts a command line of elsewhere. Hosts together give way to the cell's daemons, and attacks to
// both: each as one control group, or else each session by itself, where the kernel weighs sessions against each other
// (sched(7), autogroup).
func (s *site) startElsewhere(cmd *exec.Cmd, where machine) error {
	cmd.SysProcAttr.Setpgid, cmd.SysProcAttr.Setsid = false, true
	if err := cmd.Start(); err != nil {
		return err
	}
	pid := strconv.Itoa(cmd.Process.Pid)
	file, text := filepath.Join("/proc", pid, "autogroup"), strconv.Itoa(s.nice)
	if group := s.groups[where]; group != "" {
		file, text = filepath.Join(group, "cgroup.procs"), pid
	}
	if err := os.WriteFile(file, []byte(text), 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	return nil
}

// machine is one of those that a real cell has elsewhere.
type machine int

const (
	hosts machine = iota // with their jobs
	attackers
	machines
)

// cpuGroups is where control groups of version 1 weigh processors.
const cpuGroups = "/sys/fs/cgroup/cpu"

// machineGroups are the names of the machines' control groups, and their weights, of which the daemons have 1024: of
// busy processors daemons get four parts, hosts two, and attacks one.
var machineGroups = [machines]struct{ suffix, shares string }{{"-hosts", "512"}, {"-attacks", "256"}}

// makeGroups makes the control groups of elsewhere, if it can. Without them each of hundreds of sessions has a weight
// of its own.
func (s *site) makeGroups() {
	for m, g := range machineGroups {
		group := filepath.Join(cpuGroups, filepath.Base(s.dir)+g.suffix)
		if os.Mkdir(group, 0o755) != nil {
			return
		}
		s.groups[m] = group
		if os.WriteFile(filepath.Join(group, "cpu.shares"), []byte(g.shares), 0) != nil {
			s.removeGroups()
			return
		}
	}
}

func (s *site) removeGroups() {
	for m, group := range s.groups {
		if group != "" {
			os.Remove(group)
			s.groups[m] = ""
		}
	}
}
