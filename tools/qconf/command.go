package qconf

import (
	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/switches"
)

// App is the command for urfave/cli.
func App(env opt.Env) *cli.App { return opt.App(env, command(), run) }

// Run is the whole command; it returns the exit status.
func Run(env opt.Env, args []string) int { return opt.RunApp(env, App(env), args) }

func command() *switches.Command[[]step] {
	c := &switches.Command[[]step]{
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
			row("a"+stem, "name_list", "add "+l.what, switches.One, l.add),
			row("d"+stem, "name_list", "delete "+l.none, switches.One, l.remove),
			row("s"+stem, "", "show a list of all "+l.none+"s", nil, l.show))
	}
	c.Switches = append(c.Switches, configurationRows()...)
	c.Switches = append(c.Switches, shareTreeRows()...)
	c.Switches = append(c.Switches, attributeRows()...)
	c.Switches = append(c.Switches, daemonRows()...)
	c.Switches = append(c.Switches, switches.Switch[[]step]{Name: "help", Help: "print this help"})
	return c
}

func row(name, args, help string, take switches.Take, f func(*session, []string) error) switches.Switch[[]step] {
	return switches.Switch[[]step]{Name: name, Args: args, Help: help, Take: take, Set: words(f)}
}

func nameRow(name, args, help string, f func(*session, string) error) switches.Switch[[]step] {
	return switches.Switch[[]step]{Name: name, Args: args, Help: help, Take: switches.One, Set: names(f)}
}

func configurationRows() []switches.Switch[[]step] {
	sched := single{grid.KindSchedConf, "scheduler configuration", "no scheduler configuration defined"}
	return []switches.Switch[[]step]{
		row("sconf", "[host_list|global]", "show configurations", switches.Maybe, showConf),
		row("sconfl", "", "show a list of all local configurations", nil, listConfs),
		row("aconf", "host_list", "add configurations", switches.One, editConf(true)),
		row("Aconf", "file_list", "add configurations from file_list", switches.One, fileConf(true)),
		row("mconf", "[host_list|global]", "modify configurations", switches.Maybe, editConf(false)),
		row("Mconf", "file_list", "modify configurations from file_list", switches.One, fileConf(false)),
		nameRow("dconf", "host_list", "delete local configurations", removeConf),
		row("ssconf", "", "show scheduler configuration", nil, sched.show),
		row("msconf", "", "modify scheduler configuration", nil, sched.edit),
		row("Msconf", "fname", "modify scheduler configuration from file", switches.One, sched.file),
		row("sc", "", "show complex attributes", nil, showComplex),
		row("mc", "", "modify complex attributes", nil, editComplex),
		row("Mc", "fname", "modify complex attributes from file", switches.One, fileComplex),
		row("au", "user_list listname_list", "add user(s) to userset list(s)", switches.Two, addUsers),
		row("du", "user_list listname_list", "delete user(s) from userset list(s)", switches.Two, removeUsers),
		nameRow("shgrp_tree", "group", "show host group and used hostgroups as tree", groupTree),
		nameRow("shgrp_resolved", "group", "show host group with resolved hostlist", groupHosts),
	}
}

// atLeast is that many words and those behind them that begin with no dash.
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

func attributeRows() []switches.Switch[[]step] {
	var rows []switches.Switch[[]step]
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
			row(v.letter+"attr", "obj_nm attr_nm val obj_id_list", v.help, atLeast(4), changeWords(v.op)),
			row(v.upper+"attr", "obj_nm fname obj_id_list", v.help, atLeast(3), changeFile(v.op)))
	}
	return append(rows,
		row("purge", "obj_nm3 attr_nm objectname", "deletes attribute from object_instance", atLeast(3), purge),
		row("sobjl", "obj_nm2 attr_nm val", "show objects which match the given value", atLeast(3), matchingObjects))
}

// trigger makes a step that asks a daemon for something.
func trigger(action string, force bool) func(*session, []string) error {
	return func(s *session, w []string) error {
		return s.ask(&gdi.Trigger{Action: action, Hosts: split(w), Force: force})
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

func daemonRows() []switches.Switch[[]step] {
	clean := func(s *session, w []string) error {
		return s.ask(&gdi.Control{Action: "clean", Queues: true, Refs: split(w)})
	}
	return []switches.Switch[[]step]{
		row("cq", "wc_queue_list", "clean queue", switches.One, clean),
		row("ke", "host_list", "shutdown execution daemon(s)", switches.One, trigger("kill-execd", false)),
		row("kej", "host_list", "shutdown execution daemon(s) and kill their jobs", switches.One, trigger("kill-execd", true)),
		row("km", "", "shutdown qmaster", nil, trigger("kill-qmaster", false)),
		row("ks", "", "shutdown scheduler", nil, trigger("kill-schedd", false)),
		row("kt", "thread_name", "shutdown the scheduler, as -ks", switches.One, thread(trigger("kill-schedd", false))),
		row("at", "thread_name", "tells whether the scheduler runs, and how to start it", switches.One, thread(startScheduler)),
		row("kec", "evid_list", "kill event client", switches.One, trigger("kill-event-client", false)),
		row("secl", "", "show event client list", nil, trigger("show-event-clients", false)),
		row("sds", "", "show detached settings", nil, showDetached),
		row("sss", "", "show the host on which the scheduler runs", nil, trigger("show-scheduler", false)),
		row("tsm", "", "trigger scheduler monitoring", nil, trigger("schedule", false)),
		row("clearusage", "[user_list]", "clear sharetree usage for user_list or all users/projects", switches.Maybe, trigger("clear-usage", false)),
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
