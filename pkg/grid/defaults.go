package grid

import "strings"

// The objects of a fresh cell, and the templates that qconf -aX shows: what
// Grid Engine 8.1 installs.

const (
	DefaultAccount    = "sge"               // of jobs without -A
	DefaultDepartment = "defaultdepartment" // of users that are in no other
)

// FreshCell is the configuration of a new cell, less what depends on where it
// runs: managers, hosts and the members of @allhosts.
func FreshCell() []Object {
	all := DefaultHGroup("@allhosts")
	q := DefaultCQueue("all.q")
	q.HostList = Names{all.Name}
	dept := DefaultUserset(DefaultDepartment)
	dept.Type = "DEPT"
	objects := []Object{
		DefaultConf(), DefaultSchedConf(), DefaultUserset("arusers"), DefaultUserset("deadlineusers"), dept,
	}
	for _, c := range DefaultCentries() {
		objects = append(objects, c)
	}
	makePE := DefaultPE("make")
	makePE.Slots = 999
	makePE.AllocationRule = "$round_robin"
	makePE.ControlSlaves = true
	makePE.JobIsFirstTask = false
	makePE.AccountingSummary = true
	return append(objects, makePE, all, DefaultExecHost(GlobalHost), q)
}

// DefaultConf is the global configuration, sge_conf(5). execd_spool_dir none
// means: below the cell's directory.
func DefaultConf() *Conf {
	c := &Conf{Host: GlobalConf}
	for _, line := range strings.Split(strings.TrimSpace(defaultConf), "\n") {
		name, text, _ := strings.Cut(line, " ")
		c.Entries = append(c.Entries, Value{name, strings.TrimSpace(text)})
	}
	return c
}

// defaultEntries are what parameters are that the global configuration does not
// name.
var defaultEntries = DefaultConf().Entries

const defaultConf = `
execd_spool_dir           none
mailer                    /bin/mail
xterm                     /usr/bin/xterm
load_sensor               none
prolog                    none
epilog                    none
shell_start_mode          posix_compliant
login_shells              sh,bash,ksh,csh,tcsh
min_uid                   0
min_gid                   0
user_lists                none
xuser_lists               none
projects                  none
xprojects                 none
enforce_project           false
enforce_user              auto
load_report_time          00:00:40
max_unheard               00:05:00
reschedule_unknown        00:00:00
loglevel                  log_warning
administrator_mail        none
set_token_cmd             none
pag_cmd                   none
token_extend_time         none
shepherd_cmd              none
qmaster_params            none
execd_params              none
reporting_params          accounting=true reporting=false flush_time=00:00:15 joblog=false sharelog=00:00:00
finished_jobs             100
gid_range                 20000-20100
qlogin_command            builtin
qlogin_daemon             builtin
rlogin_command            builtin
rlogin_daemon             builtin
rsh_command               builtin
rsh_daemon                builtin
max_aj_instances          2000
max_aj_tasks              75000
max_u_jobs                0
max_jobs                  0
auto_user_oticket         0
auto_user_fshare          0
auto_user_default_project none
auto_user_delete_time     86400
delegated_file_staging    false
reprioritize              0
jsv_url                   none
jsv_allowed_mod           ac,h,i,e,o,j,M,N,p,w
`

// DefaultSchedConf is the scheduler configuration, sched_conf(5). Schedd runs
// as soon as something changed unless params say IMMEDIATE=false; then the
// interval and the flush times hold.
func DefaultSchedConf() *SchedConf {
	return &SchedConf{
		Algorithm: "default", ScheduleInterval: "0:0:15", QueueSortMethod: "load",
		JobLoadAdjustments: Values{{"np_load_avg", "0.50"}}, LoadAdjustmentDecayTime: "0:7:30",
		LoadFormula: "np_load_avg", ScheddJobInfo: "true", ReprioritizeInterval: "0:0:0", Halftime: 168,
		UsageWeightList:    Values{{"cpu", "1.000000"}, {"mem", "0.000000"}, {"io", "0.000000"}},
		CompensationFactor: 5, WeightUser: 0.25, WeightProject: 0.25, WeightDepartment: 0.25, WeightJob: 0.25,
		ShareOverrideTickets: true, ShareFunctionalShares: true, MaxFunctionalJobsToSchedule: 200,
		ReportPJobTickets: true, MaxPendingTasksPerJob: 50, PolicyHierarchy: "OFS",
		WeightTicket: 0.01, WeightDeadline: 3600000, WeightUrgency: 0.1, WeightPriority: 1,
		DefaultDuration: "INFINITY",
	}
}

// OwnCentries are the attributes of DefaultCentries that Grid Engine does not have. They can be deleted: a complex that
// was saved from a Grid Engine replaces them.
var OwnCentries = Names{"cgroup", ContainerRequest, "device_isolation", "h_pids"}

// DefaultCentries is the complex, complex(5).
func DefaultCentries() []*Centry {
	var list []*Centry
	for _, line := range strings.Split(strings.TrimSpace(defaultCentries), "\n") {
		f := strings.Fields(line)
		list = append(list, &Centry{Name: f[0], Shortcut: f[1], Type: CentryType(f[2]), Relop: Relop(f[3]),
			Requestable: f[4], Consumable: f[5], Default: f[6], Urgency: f[7]})
	}
	return list
}

const defaultCentries = `
arch              a        STRING  ==  YES  NO   NONE   0
calendar          c        STRING  ==  YES  NO   NONE   0
cgroup            cg       BOOL    ==  YES  NO   0      0
container         ct       STRING  ==  YES  NO   NONE   0
cpu               cpu      DOUBLE  >=  YES  NO   0      0
device_isolation  di       BOOL    ==  YES  NO   0      0
display_win_gui   dwg      BOOL    ==  YES  NO   0      0
h_core            h_core   MEMORY  <=  YES  NO   0      0
h_cpu             h_cpu    TIME    <=  YES  NO   0:0:0  0
h_data            h_data   MEMORY  <=  YES  NO   0      0
h_fsize           h_fsize  MEMORY  <=  YES  NO   0      0
h_pids            h_pids   INT     <=  YES  NO   0      0
h_rss             h_rss    MEMORY  <=  YES  NO   0      0
h_rt              h_rt     TIME    <=  YES  NO   0:0:0  0
h_stack           h_stack  MEMORY  <=  YES  NO   0      0
h_vmem            h_vmem   MEMORY  <=  YES  NO   0      0
hostname          h        HOST    ==  YES  NO   NONE   0
load_avg          la       DOUBLE  >=  NO   NO   0      0
load_long         ll       DOUBLE  >=  NO   NO   0      0
load_medium       lm       DOUBLE  >=  NO   NO   0      0
load_short        ls       DOUBLE  >=  NO   NO   0      0
m_core            core     INT     <=  YES  NO   0      0
m_socket          socket   INT     <=  YES  NO   0      0
m_thread          thread   INT     <=  YES  NO   0      0
m_topology        topo     STRING  ==  YES  NO   NONE   0
m_topology_inuse  utopo    STRING  ==  YES  NO   NONE   0
mem_free          mf       MEMORY  <=  YES  NO   0      0
mem_total         mt       MEMORY  <=  YES  NO   0      0
mem_used          mu       MEMORY  >=  YES  NO   0      0
min_cpu_interval  mci      TIME    <=  NO   NO   0:0:0  0
np_load_avg       nla      DOUBLE  >=  NO   NO   0      0
np_load_long      nll      DOUBLE  >=  NO   NO   0      0
np_load_medium    nlm      DOUBLE  >=  NO   NO   0      0
np_load_short     nls      DOUBLE  >=  NO   NO   0      0
num_proc          p        INT     ==  YES  NO   0      0
qname             q        STRING  ==  YES  NO   NONE   0
rerun             re       BOOL    ==  NO   NO   0      0
s_core            s_core   MEMORY  <=  YES  NO   0      0
s_cpu             s_cpu    TIME    <=  YES  NO   0:0:0  0
s_data            s_data   MEMORY  <=  YES  NO   0      0
s_fsize           s_fsize  MEMORY  <=  YES  NO   0      0
s_rss             s_rss    MEMORY  <=  YES  NO   0      0
s_rt              s_rt     TIME    <=  YES  NO   0:0:0  0
s_stack           s_stack  MEMORY  <=  YES  NO   0      0
s_vmem            s_vmem   MEMORY  <=  YES  NO   0      0
seq_no            seq      INT     ==  NO   NO   0      0
slots             s        INT     <=  YES  YES  1      1000
swap_free         sf       MEMORY  <=  YES  NO   0      0
swap_rate         sr       MEMORY  >=  YES  NO   0      0
swap_rsvd         srsv     MEMORY  >=  YES  NO   0      0
swap_total        st       MEMORY  <=  YES  NO   0      0
swap_used         su       MEMORY  >=  YES  NO   0      0
tmpdir            tmp      STRING  ==  NO   NO   NONE   0
virtual_free      vf       MEMORY  <=  YES  NO   0      0
virtual_total     vt       MEMORY  <=  YES  NO   0      0
virtual_used      vu       MEMORY  >=  YES  NO   0      0
`

// DefaultCQueue is a cluster queue on no host, queue_conf(5).
func DefaultCQueue(name string) *CQueue {
	const noTime, noMem = TimeText("INFINITY"), MemText("INFINITY")
	return &CQueue{
		Name:            name,
		LoadThresholds:  PerHost[Values]{Value: Values{{"np_load_avg", "1.75"}}},
		NSuspend:        PerHost[int32]{Value: 1},
		SuspendInterval: PerHost[TimeText]{Value: "00:05:00"},
		MinCPUInterval:  PerHost[TimeText]{Value: "00:05:00"},
		QType:           PerHost[Names]{Value: Names{"BATCH", "INTERACTIVE"}},
		PEList:          PerHost[Names]{Value: Names{"make"}},
		Slots:           PerHost[int32]{Value: 1},
		TmpDir:          PerHost[string]{Value: "/tmp"},
		Shell:           PerHost[string]{Value: "/bin/sh"},
		ShellStartMode:  PerHost[string]{Value: "posix_compliant"},
		Notify:          PerHost[TimeText]{Value: "00:00:60"},
		InitialState:    PerHost[string]{Value: "default"},
		SRT:             PerHost[TimeText]{Value: noTime}, HRT: PerHost[TimeText]{Value: noTime},
		SCPU: PerHost[TimeText]{Value: noTime}, HCPU: PerHost[TimeText]{Value: noTime},
		SFSize: PerHost[MemText]{Value: noMem}, HFSize: PerHost[MemText]{Value: noMem},
		SData: PerHost[MemText]{Value: noMem}, HData: PerHost[MemText]{Value: noMem},
		SStack: PerHost[MemText]{Value: noMem}, HStack: PerHost[MemText]{Value: noMem},
		SCore: PerHost[MemText]{Value: noMem}, HCore: PerHost[MemText]{Value: noMem},
		SRSS: PerHost[MemText]{Value: noMem}, HRSS: PerHost[MemText]{Value: noMem},
		SVMem: PerHost[MemText]{Value: noMem}, HVMem: PerHost[MemText]{Value: noMem},
	}
}

// DefaultCentry is a requestable number that is not a consumable, complex(5).
func DefaultCentry(name string) *Centry {
	return &Centry{Name: name, Shortcut: name, Type: "INT", Relop: "<=", Requestable: "YES", Consumable: "NO",
		Default: "0", Urgency: "0"}
}

// DefaultPE is a parallel environment without slots, sge_pe(5).
func DefaultPE(name string) *PE {
	return &PE{Name: name, AllocationRule: "$pe_slots", JobIsFirstTask: true, UrgencySlots: "min"}
}

// DefaultCkpt is a checkpointing environment, checkpoint(5).
func DefaultCkpt(name string) *Ckpt {
	return &Ckpt{Name: name, Interface: "userdefined", CkptDir: "/tmp", When: "xs"}
}

// DefaultCalendar is a calendar that never closes, calendar_conf(5).
func DefaultCalendar(name string) *Calendar { return &Calendar{Name: name} }

// DefaultExecHost is an execution host, host_conf(5).
func DefaultExecHost(name string) *ExecHost { return &ExecHost{Name: name} }

// DefaultHGroup is an empty host group, hostgroup(5).
func DefaultHGroup(name string) *HGroup { return &HGroup{Name: name} }

// DefaultUserset is an empty access list, access_list(5).
func DefaultUserset(name string) *Userset { return &Userset{Name: name, Type: "ACL"} }

// DefaultProject is a project without shares, project(5).
func DefaultProject(name string) *Project { return &Project{Name: name} }

// DefaultUser is a user without shares, user(5).
func DefaultUser(name string) *User { return &User{Name: name} }

// DefaultShareTree is a share tree to begin with, share_tree(5).
func DefaultShareTree() *ShareTree { return &ShareTree{Nodes: []ShareNode{{Name: "template"}}} }

// DefaultRQS is a disabled resource quota set, sge_resource_quota(5).
func DefaultRQS(name string) *RQS {
	return &RQS{Name: name, Limits: Names{"to slots=0"}}
}
