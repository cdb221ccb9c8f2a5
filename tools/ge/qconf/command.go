package qconf

import (
	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/switches"
)

// App is the command for urfave/cli.
func App(env opt.Env) *cli.App { return opt.App(env, command(), run) }

// Run is the whole command; it returns the exit status.
func Run(env opt.Env, args []string) int { return opt.RunApp(env, App(env), args) }

func command() *switches.Command[commandLine] {
	c := &switches.Command[commandLine]{
		Name: "qconf", Usage: "[options]", Indent: 3, Column: 44, Legend: legend,
		Unknown: func(word string) error {
			return switches.Errorf("error: invalid option argument %q\nUsage: qconf -help", word)
		},
		NoArgument: func(name string) error {
			return switches.Errorf("error: no option argument provided to %q\nUsage: qconf -help", "-"+name)
		},
	}
	for i := range families {
		c.Switches = append(c.Switches, families[i].switches()...)
	}
	for i := range nameLists {
		l := &nameLists[i]
		stem := grid.SpecOf(l.kind).Qconf
		c.Switches = append(c.Switches,
			row(changes, "a"+stem, "name_list", "add "+l.what, switches.One, l.add),
			row(changes, "d"+stem, "name_list", "delete "+l.none, switches.One, l.remove),
			row(shows, "s"+stem, "", "show a list of all "+l.none+"s", nil, l.show))
	}
	c.Switches = append(c.Switches, configurationRows()...)
	c.Switches = append(c.Switches, shareTreeRows()...)
	c.Switches = append(c.Switches, attributeRows()...)
	c.Switches = append(c.Switches, daemonRows()...)
	c.Switches = append(c.Switches, switches.Fmt(func(l *commandLine) *switches.Format { return &l.format }),
		switches.Switch[commandLine]{Name: "help", Help: "print this help"})
	return c
}

func row(
	m mode, name, args, help string, take switches.Take, do func(*session, []string) error,
) switches.Switch[commandLine] {
	return switches.Switch[commandLine]{Name: name, Args: args, Help: help, Take: take,
		Set: func(l *commandLine, w []string) error {
			l.steps = append(l.steps, step{name, m, func(s *session) error { return do(s, w) }})
			return nil
		}}
}

func configurationRows() []switches.Switch[commandLine] {
	sched := single{grid.KindSchedConf, "scheduler configuration", "no scheduler configuration defined"}
	return []switches.Switch[commandLine]{
		row(shows, "sconf", "[host_list|global]", "show configurations", switches.Maybe, showConf),
		row(shows, "sconfl", "", "show a list of all local configurations", nil, listConfs),
		row(edits, "aconf", "host_list", "add configurations", switches.One, editConf(true)),
		row(changes, "Aconf", "file_list", "add configurations from file_list", switches.One, fileConf(true)),
		row(edits, "mconf", "[host_list|global]", "modify configurations", switches.Maybe, editConf(false)),
		row(changes, "Mconf", "file_list", "modify configurations from file_list", switches.One, fileConf(false)),
		row(changes, "dconf", "host_list", "delete local configurations", switches.One, eachName(removeConf)),
		row(shows, "ssconf", "", "show scheduler configuration", nil, sched.show),
		row(edits, "msconf", "", "modify scheduler configuration", nil, sched.edit),
		row(changes, "Msconf", "fname", "modify scheduler configuration from file", switches.One, sched.file),
		row(shows, "sc", "", "show complex attributes", nil, showComplex),
		row(edits, "mc", "", "modify complex attributes", nil, editComplex),
		row(changes, "Mc", "fname", "modify complex attributes from file", switches.One, fileComplex),
		row(changes, "au", "user_list listname_list", "add user(s) to userset list(s)", switches.Two, addUsers),
		row(changes, "du", "user_list listname_list", "delete user(s) from userset list(s)", switches.Two, removeUsers),
		row(shows, "shgrp_tree", "group", "show host group and used hostgroups as tree", switches.One, groupTree),
		row(shows, "shgrp_resolved", "group", "show host group with resolved hostlist", switches.One, groupHosts),
	}
}

// atLeast is that many words and those after them that begin with no dash.
func atLeast(n int) switches.Take {
	return func(rest []string) int {
		if len(rest) > 0 && rest[0] == schedConf {
			n--
		}
		if len(rest) < n {
			return switches.Missing
		}
		return n + switches.Any(rest[n:])
	}
}

func attributeRows() []switches.Switch[commandLine] {
	var rows []switches.Switch[commandLine]
	for _, v := range []struct {
		letter, upper string
		op            conf.ListOp
		help          string
	}{
		{"a", "A", conf.Add, "add to a list attribute of an object"},
		{"m", "M", conf.Modify, "modify an attribute (or element in a sublist) of an object"},
		{"d", "D", conf.Remove, "delete from a list attribute of an object"},
		{"r", "R", conf.Replace, "replace a list attribute of an object"},
	} {
		rows = append(rows,
			row(changes, v.letter+"attr", "obj_nm attr_nm val obj_id_list", v.help, atLeast(4), changeWords(v.op)),
			row(changes, v.upper+"attr", "obj_nm fname obj_id_list", v.help, atLeast(3), changeFile(v.op)))
	}
	return append(rows,
		row(changes, "purge", "obj_nm3 attr_nm objectname", "deletes attribute from object_instance", atLeast(3), purge),
		row(shows, "sobjl", "obj_nm2 attr_nm val", "show objects which match the given value", atLeast(3), matchingObjects))
}

// trigger makes a step that asks a daemon for something.
func trigger(action string, force bool) func(*session, []string) error {
	return func(s *session, w []string) error {
		return s.ask(&gdi.Trigger{Action: action, Hosts: split(w), Force: force})
	}
}

// ask makes a step that shows what qmaster answers.
func ask(action string, answer func(gdi.Reply) document.Document) func(*session, []string) error {
	return func(s *session, _ []string) error {
		if !s.json {
			return s.ask(&gdi.Trigger{Action: action})
		}
		reply, err := s.send(&gdi.Trigger{Action: action})
		switch {
		case err != nil:
			return err
		case reply.OK():
			s.shown = answer(reply)
			return nil
		}
		return s.showAnswers(s.env, reply)
	}
}

// thread makes a step for the only one of Grid Engine's threads that can be
// stopped and started. Here it is a process of its own.
func thread(step func(*session, []string) error) func(*session, []string) error {
	return func(s *session, w []string) error {
		if w[0] != "scheduler" {
			return refuse("thread with name %q is not supported", w[0])
		}
		return step(s, nil)
	}
}

// startScheduler is -at scheduler: a client cannot start a daemon.
func startScheduler(s *session, _ []string) error {
	reply, err := s.Do(s.ctx, "qconf", &gdi.Trigger{Action: "show-scheduler"})
	switch {
	case err != nil:
		return err
	case reply.OK():
		return refusal("scheduler thread is already running")
	}
	return refusal("no scheduler runs: start it with quill schedd")
}

func daemonRows() []switches.Switch[commandLine] {
	clean := func(s *session, w []string) error {
		return s.ask(&gdi.Control{Action: "clean", Queues: true, Refs: split(w)})
	}
	return []switches.Switch[commandLine]{
		row(changes, "cq", "wc_queue_list", "clean queue", switches.One, clean),
		row(changes, "ke", "host_list", "shutdown execution daemon(s)", switches.One, trigger("kill-execd", false)),
		row(changes, "kej", "host_list", "shutdown execution daemon(s) and kill their jobs", switches.One,
			trigger("kill-execd", true)),
		row(changes, "km", "", "shutdown qmaster", nil, trigger("kill-qmaster", false)),
		row(changes, "ks", "", "shutdown scheduler", nil, trigger("kill-schedd", false)),
		row(changes, "kt", "thread_name", "shutdown the scheduler, as -ks", switches.One,
			thread(trigger("kill-schedd", false))),
		row(changes, "at", "thread_name", "print whether the scheduler runs, and how to start it", switches.One,
			thread(startScheduler)),
		row(changes, "kec", "evid_list", "kill event client", switches.One, trigger("kill-event-client", false)),
		row(shows, "secl", "", "show event client list", nil,
			ask("show-event-clients", func(r gdi.Reply) document.Document { return document.EventClientsOf(r.Clients) })),
		row(shows, "sds", "", "show detached settings", nil, showDetached),
		row(shows, "sss", "", "show the host on which the scheduler runs", nil,
			ask("show-scheduler", func(r gdi.Reply) document.Document { return document.NamesOf([]string{r.Answers[0].Text}) })),
		row(changes, "tsm", "", "trigger scheduler monitoring", nil, trigger("schedule", false)),
		row(changes, "clearusage", "[user_list]", "clear sharetree usage for user_list or all users/projects", switches.Maybe,
			trigger("clear-usage", false)),
	}
}

const legend = `
name_list               name[,name,...]
host_list               all | hostname[,hostname,...]
wc_queue_list           wc_queue[,wc_queue,...]
user_list               user[,user,...]
node_list               node_path[,node_path,...]
node_path               [/]node_name[[/.]node_name...]
node_shares_list        node_path=shares[,node_path=shares,...]
listname_list           listname[,listname,...]
obj_nm                  "queue"|"exechost"|"pe"|"ckpt"|"hostgroup"|"resource_quota"|"calendar"|"userset"|"project"|"user"
attr_nm                 (see man pages)
obj_id_list             objectname [ objectname ...]
evid_list               all | evid[,evid,...]
obj_nm2                 "queue"|"queue_domain"|"queue_instance"|"exechost"
obj_nm3                 "queue"
`
