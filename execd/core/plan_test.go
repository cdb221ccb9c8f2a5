package core

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// TestPlans prints the plans of deliveries. Each input line is "NAME VALUE";
// "show" names what to print: argv, streams, env, otherenv, instances, devices, limits, cgroup, files, config, methods,
// binding.
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plan", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return planned(t, d.Input)
		})
	})
}

var testSite = Site{
	Host: "node1", Root: "/sge", Cell: "default", Dir: "/var/spool/node1", Active: "/var/spool/node1/active_jobs",
	Arch: "lx-amd64", BinaryPath: "/sge/bin/lx-amd64",
	User: "root", Starter: []string{"/sge/bin/quill", "qrsh_starter"}, Cgroup: "/cgroup/quill-node1", Devices: true,
	Environ: []string{"LANG=C.UTF-8", "HOME=/root", "SGE_CELL=other"},
}

var testOwner = Account{Name: "alice", Owner: plan.Owner{UID: 2001, GID: 2001}, Home: "/home/alice"}

// testAccounts are the accounts of node1.
var testAccounts = []Account{
	testOwner, {Name: "root", Home: "/root"}, {Name: "sgeadmin", Owner: plan.Owner{UID: 999, GID: 999}, Home: "/sge"},
}

// slowDir is where testLocal has a file system that does not answer in time.
const slowDir = "/slow"

// testLocal is the host of the tests: it has no directories but dir, and finds every program in /usr/bin.
func testLocal(dir string) Local {
	return Local{
		IsDir: func(path string) (is, known bool) { return path == dir, !strings.HasPrefix(path, slowDir) },
		Account: func(user string) (Account, error) {
			i := slices.IndexFunc(testAccounts, func(a Account) bool { return a.Name == user })
			if i < 0 {
				return Account{}, ErrNoAccount
			}
			return testAccounts[i], nil
		},
		Executable: func(path string) error {
			if strings.HasPrefix(path, "/missing/") {
				return syscall.ENOENT
			}
			return nil
		},
		GPUs: func() []GPU {
			return []GPU{
				{"GPU-0", []string{"/dev/nvidia0", "/dev/dri/renderD128"}},
				{"GPU-1", []string{"/dev/nvidia1", "/dev/dri/renderD129"}},
				{"GPU-2", []string{"/dev/dri/renderD130", "/dev/kfd"}}, {"GPU-3", []string{"/dev/dri/renderD131", "/dev/kfd"}},
			}
		},
		Program: func(_ plan.Owner, name string, _ []string) string { return "/usr/bin/" + name },
	}
}

func planned(t *testing.T, text string) string {
	i := grid.Infinity
	site, owner := testSite, testOwner
	var lookup error // of the owner's account
	spec := &grid.JobSpec{Command: "job.sh", SubmitHost: "master"}
	s := Start{
		Deliver: report.Deliver{Attempt: report.Attempt{Job: 13, Task: 1, N: 1}},
		Job: &grid.Job{JobRequest: &grid.JobRequest{}, ID: 13, Name: "myjob", Owner: "alice", Account: "sge",
			Tasks: grid.Range{First: 1, Last: 1, Step: 1}, Spec: spec},
		Queue: report.QueueInstance{
			Name: "all.q", Host: "node1", TmpDir: "/tmp", Shell: "/bin/sh", ShellStartMode: "posix_compliant", Notify: 60,
			Processors: "UNDEFINED",
			SRT:        i, HRT: i, SCPU: i, HCPU: i, SFSize: i, HFSize: i, SData: i, HData: i, SStack: i, HStack: i,
			SCore: i, HCore: i,
			SRSS: i, HRSS: i, SVMem: i, HVMem: i, HPids: i,
		},
	}
	show, dirs := "argv streams", ""
	var conf grid.Values
	q := &s.Queue
	for line := range strings.Lines(text) {
		name, v, _ := strings.Cut(strings.TrimSpace(line), " ")
		num := func() float64 { f, _ := strconv.ParseFloat(v, 64); return f }
		switch name {
		case "show":
			show = v
		case "dir":
			dirs = v
		case "attempt":
			s.Deliver.Attempt = attemptArg(t, v)
		case "array":
			s.Job.Array = true
			fmt.Sscanf(v, "%d-%d:%d", &s.Job.Tasks.First, &s.Job.Tasks.Last, &s.Job.Tasks.Step)
		case "name":
			s.Job.Name = v
		case "binary":
			s.Job.Binary, spec.Command = true, v
		case "args":
			spec.Args = strings.Split(v, "|")
		case "script":
			spec.Script = []byte(strings.ReplaceAll(v, `\n`, "\n"))
		case "-shell":
			spec.NoShell = v == "n"
		case "-S":
			spec.Shell = strings.Split(v, ",")
		case "-o":
			spec.Stdout = strings.Split(v, ",")
		case "-e":
			spec.Stderr = strings.Split(v, ",")
		case "-i":
			spec.Stdin = strings.Split(v, ",")
		case "-j":
			spec.Merge = v == "y"
		case "-wd":
			spec.Cwd = v
		case "-notify":
			s.Job.Notify = true
		case "-v":
			k, x, _ := strings.Cut(v, "=")
			spec.Env = append(spec.Env, grid.Value{Name: k, Text: x})
		case "binding":
			instance, request, _ := strings.Cut(v, " ")
			s.Job.JobRequest.Binding, _ = grid.ParseBinding(instance, request)
		case "cores": // granted by qmaster, for a request by units with this instance
			instance, text, _ := strings.Cut(v, " ")
			s.Deliver.Cores = text
			if instance != "none" {
				s.Job.JobRequest.Binding = &grid.Binding{Instance: instance, Strategy: grid.BindPacked, Amount: 1, Unit: "C",
					Type: grid.BindSlot}
			}
		case "grant":
			var g grid.Grant
			fmt.Sscanf(v, "%s %s %d", &g.Queue, &g.Host, &g.Slots)
			s.Deliver.Grants = append(s.Deliver.Grants, g)
		case "map": // gpu=GPU0:GPU-a,GPU1:GPU-b
			m := grid.MapGrant{Host: "node1"}
			var ids string
			m.Resource, ids, _ = strings.Cut(v, "=")
			for _, one := range strings.Split(ids, ",") {
				id, uuid, known := strings.Cut(one, ":")
				if m.IDs = append(m.IDs, id); known {
					m.UUIDs = append(m.UUIDs, uuid)
				}
			}
			s.Deliver.Maps = append(s.Deliver.Maps, m)
		case "taken": // scratch=2.000000
			name, amount, _ := strings.Cut(v, "=")
			s.Deliver.Taken = append(s.Deliver.Taken, grid.Value{Name: name, Text: amount})
		case "device": // path, and what the task may do by which attribute
			words := strings.Fields(v + " - -")
			d := grid.Device{Path: words[0]}
			if words[2] != "-" {
				parsed, err := grid.ParseDevices(words[0] + ":" + words[1])
				if err != nil {
					t.Fatal(err)
				}
				d.Access, d.Resource = parsed[0].Access, words[2]
			}
			s.Deliver.Devices = append(s.Deliver.Devices, d)
		case "no-device-programs":
			site.Devices = false
		case "pe":
			s.Deliver.PE = &grid.PE{Name: v}
		case "pe_start":
			s.Deliver.PE.StartProcArgs = v
		case "pe_stop":
			s.Deliver.PE.StopProcArgs = v
		case "ckpt":
			s.Deliver.Ckpt = &grid.Ckpt{Name: v, CkptDir: "/ckpt", Interface: "userdefined"}
		case "interface":
			s.Deliver.Ckpt.Interface = v
		case "ckpt_command":
			s.Deliver.Ckpt.CkptCommand = v
		case "migr_command":
			s.Deliver.Ckpt.MigrCommand = v
		case "restart_command":
			s.Deliver.Ckpt.RestartCommand = v
		case "clean_command":
			s.Deliver.Ckpt.CleanCommand = v
		case "signal":
			s.Deliver.Ckpt.Signal = v
		case "every":
			s.Deliver.CkptSeconds = num()
		case "connect":
			spec.Connect = v
		case "petask":
			words := strings.Fields(v)
			s.Deliver.Attempt.PETask, s.Deliver.Launch = words[0],
				&grid.Launch{Args: words[1:], Env: grid.Values{{Name: "OMP", Text: "2"}}}
		case "petask_connect":
			s.Deliver.Launch.Connect = v
		case "petask_wd":
			s.Deliver.Launch.Cwd = v
		case "restarted":
			s.Deliver.Restarted = true
		case "conf":
			k, x, _ := strings.Cut(v, " ")
			conf = append(conf, grid.Value{Name: k, Text: x})
		case "shell":
			q.Shell = v
		case "processors":
			q.Processors = v
		case "shell_start_mode":
			q.ShellStartMode = v
		case "starter_method":
			q.StarterMethod = v
		case "prolog":
			q.Prolog = v
		case "epilog":
			q.Epilog = v
		case "suspend_method":
			q.SuspendMethod = v
		case "terminate_method":
			q.TerminateMethod = v
		case "priority":
			q.Priority = int32(num())
		case "h_rt":
			q.HRT = num()
		case "s_rt":
			q.SRT = num()
		case "h_cpu":
			q.HCPU = num()
		case "h_vmem":
			q.HVMem = num()
		case "s_vmem":
			q.SVMem = num()
		case "s_rss":
			q.SRSS = num()
		case "h_rss":
			q.HRSS = num()
		case "h_pids":
			q.HPids = num()
		case "container":
			s.Job.JobRequest.Hard = grid.Requests{{Name: grid.ContainerRequest, Value: v}}
		case "no-cgroups":
			site.Cgroup = ""
		case "s_stack":
			q.SStack = num()
		case "h_core":
			q.HCore = num()
		case "execd":
			site.User = v
			site.UID = 2002
		case "owner":
			s.Job.Owner = v
		case "database":
			lookup = errors.New(v)
		default:
			t.Fatalf("unknown %q", line)
		}
	}
	if s.Job.Owner != owner.Name && lookup == nil {
		lookup = ErrNoAccount
	}
	if err := site.Allow(s.Job.Owner, owner, lookup); err != nil {
		return "refused: " + err.Error() + "\n"
	}
	c := ParseConf(conf)
	books := New(site.Host, "i1", time.UTC, treeOf("SCTTCTTSCTTCTT"))
	books.conf = c
	books.bindCores(&s)
	local := testLocal(dirs)
	local.Tmp = s.TmpDir() + "/quill-1"
	p, err := site.Plan(&c, &s, owner, local)
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	return printedPlan(&p, show)
}

func printedPlan(p *plan.Plan, show string) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	shown := strings.Fields(show)
	if slices.Contains(shown, "argv") {
		for _, s := range p.Steps {
			login, as := "", ""
			if s.Login {
				login = " login"
			}
			if s.Front {
				login = " front"
			}
			if s.As != nil {
				i := slices.IndexFunc(testAccounts, func(a Account) bool { return a.UID == s.As.UID })
				as = " as " + testAccounts[i].Name
			}
			if s.Refused != "" {
				say("%v refused: %s", s.Name, s.Refused)
				continue
			}
			say("%v%s%s %q", s.Name, as, login, s.Argv)
			if s.Stdin != "" {
				say("  stdin %q", s.Stdin)
			}
			if s.Stdout.Path != "" && slices.Contains(shown, "streams") {
				say("  stdout %q stderr %q %q", s.Stdout.Path, s.Stderr.Path, s.Env)
			} else if len(s.Env) > 0 {
				say("  %q", s.Env)
			}
		}
	}
	if slices.Contains(shown, "streams") {
		say("cwd %s", p.Cwd)
		say("stdin %q stdout %q stderr %q", p.Stdin, p.Stdout.Path, p.Stderr.Path)
		if p.Stdout.Name+p.Stderr.Name != "" {
			say("below a directory: stdout %q stderr %q", p.Stdout.Name, p.Stderr.Name)
		}
	}
	if slices.Contains(shown, "env") {
		for _, e := range p.Env {
			say("%s", e)
		}
	}
	if slices.Contains(shown, "instances") {
		of := func(env []string) string {
			return strings.Join(slices.DeleteFunc(slices.Clone(env), func(e string) bool {
				return !strings.HasPrefix(e, "SGE_HGR_") && !strings.Contains(e, "VISIBLE_DEVICES")
			}), "\n  ")
		}
		say("job:\n  %s", of(p.Env))
		for _, s := range p.Steps {
			if s.Environ != nil {
				say("%v:\n  %s", s.Name, of(s.Environ))
			}
		}
	}
	if slices.Contains(shown, "devices") {
		for _, d := range p.Devices {
			say("%s %s", d.Path, cmp.Or(d.Access.String(), "closed"))
		}
		if len(p.Devices) == 0 {
			say("no devices are closed")
		}
	}
	if slices.Contains(shown, "trace") {
		of := func(env []string) string {
			return strings.Join(slices.DeleteFunc(slices.Clone(env), func(e string) bool {
				return !strings.HasPrefix(e, "TRACEPARENT=")
			}), " ")
		}
		say("job: %s", of(p.Env))
		for _, s := range p.Steps {
			if s.Environ != nil {
				say("%v: %s", s.Name, of(s.Environ))
			}
		}
	}
	if slices.Contains(shown, "otherenv") {
		for _, s := range p.Steps {
			for _, e := range s.Environ {
				say("%v: %s", s.Name, e)
			}
		}
	}
	if slices.Contains(shown, "limits") {
		for _, l := range p.Limits.Rlimits {
			say("%s soft=%s hard=%s", l.Resource, limitText(l.Soft), limitText(l.Hard))
		}
		say("rt %v cpu %v vmem %v", p.Limits.RT, p.Limits.CPU, p.Limits.VMem)
		say("nice %d notify %v grace %v", p.Priority, p.Notify.Seconds(), p.Limits.Grace.Seconds())
	}
	if g := &p.Cgroup; slices.Contains(shown, "cgroup") {
		say("cgroup %s", cmp.Or(g.Path, "none"))
		if g.Job != "" {
			say("within %s", g.Job)
		}
		say("memory high %d max %d pids %d weight %d", g.MemoryHigh, g.MemoryMax, g.PidsMax, g.CPUWeight)
		if g.IOWeight > 0 {
			say("io weight %d", g.IOWeight)
		}
	}
	if slices.Contains(shown, "files") {
		say("spool %s", p.Spool)
		for _, d := range p.Dirs {
			say("tmpdir %s", d.Path)
		}
		for _, f := range p.Files {
			if strings.HasSuffix(f.Path, "/config") && !slices.Contains(shown, "config") {
				continue
			}
			private := ""
			if f.Owned && f.Mode == 0o600 {
				private = " (for the owner)"
			}
			say("%s%s:\n%s", f.Path, private, strings.ReplaceAll(strings.TrimSuffix(string(f.Data), "\n"), "\x00", "|"))
		}
	}
	if slices.Contains(shown, "ckpt") {
		c := &p.Ckpt
		say("every %vs must=%v", c.Every.Seconds(), c.Must)
		say("make %s migrate %s clean %q", methodText(c.Make), methodText(c.Migrate), c.Clean)
	}
	if slices.Contains(shown, "binding") {
		say("binding %q affinity %v", p.Binding, p.Affinity)
		for _, e := range p.Env {
			if strings.HasPrefix(e, "SGE_BINDING") {
				say("%s", e)
			}
		}
	}
	if slices.Contains(shown, "methods") {
		say("suspend %s resume %s terminate %s", methodText(p.Suspend), methodText(p.Resume), methodText(p.Terminate))
	}
	return b.String()
}

func methodText(m plan.Method) string {
	if m.Signal != 0 {
		return unix.SignalName(syscall.Signal(m.Signal))
	}
	return fmt.Sprintf("%q", m.Argv)
}

func limitText(n uint64) string {
	if n == plan.Infinity {
		return "infinity"
	}
	return strconv.FormatUint(n, 10)
}
