package qstat

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
)

// xmlJobs is qstat -j -xml.
func (p *printer) xmlJobs(jobs []view.JobDetail, global []string) {
	x := p.tree("detailed_job_info", "detailed_job_info.xsd")
	x.in("djob_info", func() {
		for i := range jobs {
			x.in("element", func() { p.xmlJob(x, &jobs[i]) })
		}
	})
	x.in("messages", func() {
		x.in("element", func() { xmlReasons(x, jobs, global) })
	})
	x.text("</detailed_job_info>\n")
	p.finish(x.table)
}

// xmlOverview is qstat -j -xml without jobs.
func (p *printer) xmlOverview(global []string, groups []view.ReasonGroup) {
	x := p.tree("message", "message.xsd")
	x.in("element", func() {
		if len(groups) > 0 {
			x.in("SME_message_list", func() {
				for _, g := range groups {
					xmlMessage(x, g.Jobs, g.Summary)
				}
			})
		}
		xmlGlobal(x, global)
	})
	x.text("</message>\n")
	p.finish(x.table)
}

func xmlMessage(x *tree, jobs []uint32, text string) {
	x.in("element", func() {
		x.in("MES_job_number_list", func() {
			for _, id := range jobs {
				x.in("ulong_sublist", func() { x.number("ULNG_value", int64(id)) })
			}
		})
		x.is("MES_message", text)
	})
}

func xmlGlobal(x *tree, messages []string) {
	if len(messages) == 0 {
		return
	}
	x.in("SME_global_message_list", func() {
		for _, m := range messages {
			x.in("element", func() { x.is("MES_message", m) })
		}
	})
}

func xmlReasons(x *tree, jobs []view.JobDetail, global []string) {
	if slices.ContainsFunc(jobs, func(d view.JobDetail) bool { return len(d.Reasons) > 0 }) {
		x.in("SME_message_list", func() {
			for _, d := range jobs {
				for _, m := range d.Reasons {
					xmlMessage(x, []uint32{d.Job.ID}, m)
				}
			}
		})
	}
	xmlGlobal(x, global)
}

// xmlJob prints a job field by field, by the names of Grid Engine's job
// object.
func (p *printer) xmlJob(x *tree, d *view.JobDetail) {
	j, s := d.Job, d.Job.Spec
	if s == nil {
		s = new(grid.JobSpec)
	}
	xmlIdentity(x, d, s)
	p.xmlExecution(x, j, s)
	xmlTasks(x, d.Tasks)
	xmlRelated(x, d)
	p.xmlRest(x, d, s)
}

// xmlIdentity prints which job it is, whose, and who gets mail.
func xmlIdentity(x *tree, d *view.JobDetail, s *grid.JobSpec) {
	j := d.Job
	x.number("JB_job_number", int64(j.ID))
	x.number("JB_ar", int64(j.AR))
	x.is("JB_exec_file", fmt.Sprintf("job_scripts/%d", j.ID))
	x.number("JB_submission_time", j.Submit.Unix())
	x.is("JB_owner", j.Owner)
	x.number("JB_uid", int64(j.UID))
	x.is("JB_group", j.Group)
	x.number("JB_gid", int64(j.GID))
	x.some("JB_account", j.Account)
	x.flag("JB_merge_stderr", s.Merge)
	mail := "element"
	if len(s.MailTo) > 0 {
		mail = "mail_list"
	}
	x.in("JB_mail_list", func() {
		for _, m := range d.MailTo() {
			x.in(mail, func() {
				user, host, _ := strings.Cut(m, "@")
				x.is("MR_user", user)
				x.is("MR_host", strings.TrimPrefix(host, "NONE"))
			})
		}
	})
	x.some("JB_project", j.Project)
	x.flag("JB_notify", j.Notify)
	x.is("JB_job_name", j.Name)
}

// xmlExecution prints what it needs and what it executes.
func (p *printer) xmlExecution(x *tree, j *grid.Job, s *grid.JobSpec) {
	xmlPaths(x, "JB_stdout_path_list", s.Stdout)
	x.number("JB_jobshare", int64(j.JobShare))
	p.xmlResources(x, "JB_hard_resource_list", j.Hard)
	p.xmlResources(x, "JB_master_hard_resource_list", j.MasterHard)
	p.xmlResources(x, "JB_slave_hard_resource_list", j.SlaveHard)
	p.xmlResources(x, "JB_soft_resource_list", j.Soft)
	xmlNames(x, "JB_hard_queue_list", "destin_ident_list", "QR_name", j.HardQueues)
	xmlNames(x, "JB_soft_queue_list", "destin_ident_list", "QR_name", j.SoftQueues)
	xmlPaths(x, "JB_shell_list", s.Shell)
	xmlValues(x, "JB_env_list", "job_sublist", xmlEnv(s))
	xmlNames(x, "JB_job_args", "element", "ST_name", s.Args)
	x.some("JB_script_file", s.Command)
	xmlValues(x, "JB_context", "context_list", s.Context)
	x.some("JB_cwd", s.Cwd)
	xmlPaths(x, "JB_stderr_path_list", s.Stderr)
}

// xmlRelated prints the jobs that it waits for, and those that wait for it.
func xmlRelated(x *tree, d *view.JobDetail) {
	j := d.Job
	xmlNames(x, "JB_jid_predecessor_list", "job_predecessors", "JRE_job_number", ids(j.Predecessors))
	xmlNames(x, "JB_ja_ad_predecessor_list", "job_predecessors_ad", "JRE_job_number", ids(j.ArrayPredecessors))
	xmlDependencies(x, "JB_jid_request_list", j.PredecessorReq)
	xmlDependencies(x, "JB_ja_ad_request_list", j.ArrayPredecessorReq)
	xmlNames(x, "JB_jid_successor_list", "ulong_sublist", "JRE_job_number", ids(d.Successors))
	xmlNames(x, "JB_ja_ad_successor_list", "ulong_sublist", "JRE_job_number", ids(d.ArraySuccessors))
}

// xmlRest prints what follows the related jobs.
func (p *printer) xmlRest(x *tree, d *view.JobDetail, s *grid.JobSpec) {
	j := d.Job
	x.number("JB_deadline", j.Deadline.Unix())
	x.number("JB_execution_time", j.ExecTime.Unix())
	x.some("JB_checkpoint_name", j.Ckpt)
	x.number("JB_checkpoint_attr", bits(j.CkptWhen, checkpointBits))
	x.number("JB_checkpoint_interval", int64(j.CkptSeconds))
	x.some("JB_directive_prefix", s.CommandPrefix)
	x.flag("JB_reserve", j.Reserve)
	x.number("JB_mail_options", bits(s.MailOptions, mailBits))
	xmlPaths(x, "JB_stdin_path_list", s.Stdin)
	x.number("JB_priority", int64(j.Priority)+1024)
	x.number("JB_restart", int64(j.Restart))
	x.number("JB_verify", 0)
	xmlNames(x, "JB_master_hard_queue_list", "destin_ident_list", "QR_name", j.MasterQueues)
	xmlNames(x, "JB_slave_hard_queue_list", "destin_ident_list", "QR_name", j.SlaveQueues)
	x.number("JB_script_size", int64(len(s.Script)))
	x.some("JB_pe", j.PE)
	if j.PE != "" {
		x.in("JB_pe_range", func() {
			for _, r := range j.PERange {
				x.in("ranges", func() { xmlRange(x, r) })
			}
		})
	}
	x.number("JB_verify_suitable_queues", verifyNumbers[s.Verify])
	x.number("JB_soft_wallclock_gmt", 0)
	x.number("JB_hard_wallclock_gmt", 0)
	x.number("JB_override_tickets", int64(j.OverrideTickets))
	x.number("JB_version", int64(j.Version))
	x.in("JB_ja_structure", func() {
		x.in("task_id_range", func() { xmlRange(x, j.Tasks) })
	})
	x.number("JB_type", int64(typeBits(j, s)))
	if !p.noBinding {
		xmlBinding(x, j.Binding)
	}
	x.number("JB_ja_task_concurrency", int64(j.Concurrency))
	x.is("JB_nurg", fmt.Sprintf("%f", d.NUrgency))
}

// bindingNumbers are Grid Engine's numbers of binding instances.
var bindingNumbers = map[string]int64{grid.BindPE: 1, grid.BindEnv: 2, grid.BindSet: 3}

// xmlBinding prints a binding request; a strategy without a place to begin is
// called automatic.
func xmlBinding(x *tree, b *grid.Binding) {
	if b == nil {
		x.in("JB_binding", func() {
			x.in("element", func() {
				x.is("BN_strategy", "no_job_binding")
				for _, name := range [...]string{"BN_type", "BN_parameter_n", "BN_parameter_socket_offset",
					"BN_parameter_core_offset",
					"BN_parameter_striding_step_size"} {
					x.number(name, 0)
				}
				x.is("BN_parameter_explicit", "no_explicit_binding")
			})
		})
		return
	}
	if b.Decided() {
		xmlUnits(x, b)
		return
	}
	strategy, begin := b.Strategy, grid.CoreID{}
	switch {
	case b.Strategy == grid.BindExplicit:
	case len(b.Cores) == 0:
		strategy += "_automatic"
	default:
		begin = b.Cores[0]
	}
	x.in("JB_binding", func() {
		x.in("binding", func() {
			x.is("BN_strategy", strategy)
			x.number("BN_type", bindingNumbers[b.Instance])
			x.number("BN_parameter_n", int64(b.Amount))
			x.number("BN_parameter_socket_offset", int64(begin.Socket))
			x.number("BN_parameter_core_offset", int64(begin.Core))
			x.number("BN_parameter_striding_step_size", int64(b.Step))
			if b.Strategy == grid.BindExplicit {
				x.is("BN_parameter_explicit", b.Request())
			}
		})
	})
}

// xmlUnits prints a binding that the scheduler decides, in the words of its options.
func xmlUnits(x *tree, b *grid.Binding) {
	x.in("JB_binding", func() {
		x.in("binding", func() {
			x.number("bamount", int64(b.Amount))
			if b.Filter != "" {
				x.is("bfilter", b.Filter)
			}
			x.is("binstance", b.Instance)
			x.is("bstrategy", b.Strategy)
			x.is("btype", b.Type)
			x.is("bunit", b.Unit)
		})
	})
}

// Grid Engine's numbers for the letters of -c and -m and the words of -w.
var (
	checkpointBits = map[rune]int64{'m': 1, 's': 2, 'x': 4, 'n': 8}
	mailBits       = map[rune]int64{'a': 0x40000, 'b': 0x80000, 'e': 0x100000, 's': 0x400000}
	verifyNumbers  = map[string]int64{"w": 1, "e": 2, "v": 3, "p": 4}
)

func bits(letters string, of map[rune]int64) (n int64) {
	for _, l := range letters {
		n |= of[l]
	}
	return n
}

// xmlEnv is the job's environment as Grid Engine names it: first what describes
// who submits, then what was given.
func xmlEnv(s *grid.JobSpec) (env grid.Values) {
	for _, name := range [...]string{"O_HOME", "O_LOGNAME", "O_PATH", "O_SHELL", "O_TZ", "O_HOST", "O_WORKDIR"} {
		if v, ok := s.Env.Get("SGE_" + name); ok {
			env = append(env, grid.Value{Name: "__SGE_PREFIX__" + name, Text: v})
		}
	}
	return append(env, s.Env.AsGiven()...)
}

// xmlDependencies are the words of -hold_jid or -hold_jid_ad.
func xmlDependencies(x *tree, list string, words grid.Names) {
	if len(words) == 0 {
		return
	}
	x.in(list, func() {
		for _, w := range words {
			x.in("element", func() {
				x.number("JRE_job_number", 0)
				x.is("JRE_job_name", w)
			})
		}
	})
}

// typeBits are the bits of JB_type that clients know.
func typeBits(j *grid.Job, s *grid.JobSpec) (bits uint32) {
	if j.Binary {
		bits |= 0x40
	}
	if j.Array {
		bits |= 0x80
	}
	if s.NoShell {
		bits |= 0x100
	}
	return bits
}

func xmlRange(x *tree, r grid.Range) {
	x.number("RN_min", int64(r.First))
	x.number("RN_max", int64(r.Last))
	x.number("RN_step", int64(max(r.Step, 1)))
}

func xmlNames(x *tree, list, element, field string, names []string) {
	if len(names) == 0 {
		return
	}
	x.in(list, func() {
		for _, n := range names {
			x.in(element, func() { x.is(field, n) })
		}
	})
}

func xmlPaths(x *tree, list string, paths grid.Names) {
	if len(paths) == 0 {
		return
	}
	x.in(list, func() {
		for _, p := range paths {
			x.in("path_list", func() {
				host, path := view.HostPath(p)
				x.is("PN_path", path)
				x.is("PN_host", host)
				x.is("PN_file_host", "")
				x.is("PN_file_staging", "false")
			})
		}
	})
}

func xmlValues(x *tree, list, element string, values grid.Values) {
	if len(values) == 0 {
		return
	}
	x.in(list, func() {
		for _, v := range values {
			x.in(element, func() {
				x.is("VA_variable", v.Name)
				if v.Text != "" {
					x.is("VA_value", v.Text)
				}
			})
		}
	})
}

// typeNumbers are Grid Engine's numbers for the types of attributes.
var typeNumbers = map[grid.CentryType]int64{"INT": 1, "STRING": 2, "TIME": 3, "MEMORY": 4, "BOOL": 5, "CSTRING": 6,
	"HOST": 7, "DOUBLE": 8, "RESTRING": 9, grid.TypeMap: 10}

// consumableNumbers are Grid Engine's numbers for the words of consumable.
var consumableNumbers = map[string]int64{"YES": 1, "JOB": 2, "HOST": 3}

func (p *printer) xmlResources(x *tree, list string, requests grid.Requests) {
	if len(requests) == 0 {
		return
	}
	x.in(list, func() {
		for _, q := range requests {
			x.in("qstat_l_requests", func() {
				x.is("CE_name", q.Name)
				number, consumable := q.Num, int64(0)
				if c := p.view.Attribute(q.Name); c != nil {
					consumable = consumableNumbers[strings.ToUpper(c.Consumable)]
					x.number("CE_valtype", typeNumbers[c.Type])
					number, _ = c.Type.Parse(q.Value)
				}
				x.is("CE_stringval", p.view.RequestValue(q))
				x.is("CE_doubleval", fmt.Sprintf("%f", number))
				x.number("CE_relop", 0)
				x.number("CE_consumable", consumable)
				x.number("CE_dominant", 0)
				x.is("CE_pj_doubleval", "0.000000")
				x.number("CE_pj_dominant", 0)
				x.number("CE_requestable", 0)
				x.number("CE_tagged", 0)
			})
		}
	})
}

// xmlTasks prints the tasks that have left the pending range.
func xmlTasks(x *tree, tasks []*grid.JATask) {
	if len(tasks) == 0 {
		return
	}
	x.in("JB_ja_tasks", func() {
		for _, t := range tasks {
			x.in("ulong_sublist", func() {
				x.number("JAT_status", int64(t.Status))
				x.number("JAT_task_number", int64(t.ID))
				if u := t.Usage; u != (grid.Usage{}) || t.Binding != "" {
					x.in("JAT_scaled_usage_list", func() { xmlUsage(x, t.Binding, u) })
				}
				for _, m := range t.Maps {
					x.in("resource_map", func() {
						x.is("name", m.Resource)
						x.is("hostname", m.Host)
						x.is("rsmap_ids", strings.Join(m.IDs, " "))
						x.number("total_amount", int64(len(m.IDs)))
					})
				}
				for _, g := range t.Cores {
					x.in("exec_binding_list", func() {
						x.is("hostname", g.Host)
						x.is("topology", g.Text)
					})
				}
				if l := t.Limits; l != nil && l.Version > 0 {
					x.in("limits", func() {
						x.is("requests", l.Requests.Text())
						x.is("changing", strconv.FormatBool(l.Changing))
						if l.Refused != "" {
							x.is("refused", l.Refused)
						}
					})
				}
				if t.Error != "" {
					x.in("JAT_message_list", func() {
						x.in("ulong_sublist", func() {
							x.number("QIM_type", 1)
							x.is("QIM_message", t.Error)
						})
					})
				}
				start := int64(0)
				if t.Started() {
					start = t.Start.Unix()
				}
				x.number("JAT_start_time", start)
				x.is("JAT_ntix", fmt.Sprintf("%f", t.NTickets))
			})
		}
	})
}

// xmlUsage prints usage. As in Grid Engine, the cores that a task is bound to are
// the name of one.
func xmlUsage(x *tree, binding string, u grid.Usage) {
	for _, v := range []struct {
		name  string
		value float64
	}{{"binding_inuse!" + binding, 0}, {"cpu", u.CPU}, {"mem", u.Mem}, {"io", u.IO}, {"iow", u.IOWait}, {"vmem", u.VMem},
		{"maxvmem", u.MaxVMem}} {
		if v.name == "binding_inuse!" {
			continue
		}
		x.in("scaled", func() {
			x.is("UA_name", v.name)
			x.is("UA_value", fmt.Sprintf("%f", v.value))
		})
	}
}
