// Package core decides for one execution host: which attempts to start and to signal,
// what to report to qmaster, and exactly how a job is run.
//
//	Commanded  ─┐                        ┌─ Start, Signals, Forget   to the shepherd
//	Listed      │                        ├─ Report, Load             to qmaster
//	Seen        ├─▶ Step(now, input) ────┤
//	Answered    │      Ready             ├─ Mails, Conf, Sample
//	Sampled     │                        └─ Next                     when to come back
//	Receipt, .. ┘
//
// Step records the state of each attempt: wanted (delivered), starting (in the shepherd's
// journal), running, ended, and what qmaster has of it. It is idempotent on
// (job, task, attempt). Attempts of one task run one after the other. One
// report is in flight at a time; everything that happens meanwhile goes into
// the next. An end is reported until qmaster has it. After a failed report, a new
// qmaster or a new shepherd the next report is a Hello with the whole list, and
// both sides compare.
//
// Site.Plan turns a delivery into a plan.Plan: program, environment, files, limits, as
// queue_conf(5), sge_conf(5), submit(1) and sge_pe(5) say. What only the host knows
// (accounts, directories, programs on the PATH) it asks for through Local.
//
//	core.go      Step, its inputs, what must happen next
//	command.go   messages of qmaster: deliver, signal, forget
//	shepherd.go  messages of the shepherd: starting, running, ended, its whole list
//	report.go    reports to qmaster, and its receipts
//	mail.go      recipients and texts of mails
//	conf.go      the host's configuration, sge_conf(5)
//	start.go     an attempt to start, which the planner is given
//	plan.go      a delivery becomes a plan; planchange.go limits that change become one
//	topology.go  the cores of a host, and which of them a job gets
//	binding.go   which cores jobs are bound to; planbinding.go the effect on a plan
//	petask.go    what differs for PE tasks and for interactive jobs
//	ckpt.go      how a job is checkpointed
//	argv.go      the job's command line, prolog, epilog, PE procedures, methods
//	container.go how a job is started in a container
//	maps.go      the instances of resource maps, as variables
//	devices.go   the device files of instances: closed to other jobs, and known by the GPU they are of
//	env.go       the environment of the job, and of steps that run as another user
//	paths.go     output paths and their variables
//	cgroup.go    the control group and its limits
//	limits.go    other resource limits
//	change.go    other limits for attempts that run
//	spool.go     the file config in the attempt's folder
//
// A task of a parallel job (qrsh -inherit) is an attempt like others, with a key
// of its own: wherever it runs, qmaster names each.
//
// A job or PE task with a Connect (qrsh, qlogin) is run by `quill qrsh_starter`,
// with the job's environment, limits and owner. QRSH_STARTER there names a file
// in the attempt's spool directory, to be read by the owner only, with a
// report.Starter in it. Its standard streams are /dev/null; everything goes by Connect.
//
// The package is pure: accounts, directories, time and load values come in as
// arguments. It must not know the bus, the shepherd's socket or qmaster's rules:
// what exit status 99 leads to is not decided here.
//
// To add an input: a type, a case in Step, a transcript in testdata/core.
// To add something that a job sees: plan.go or the file named above, and a case in
// testdata/plan. To add a field or a step of plans: see package plan.
package core
