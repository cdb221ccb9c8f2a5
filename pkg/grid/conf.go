package grid

// Conf is the global ("global") or a host's local configuration, sge_conf(5):
// parameters as written, in order.
type Conf struct {
	Host    string `see:"keep"`
	Entries Values `see:"config"`
	Version uint32
}

// GlobalConf is the name of the global configuration.
const GlobalConf = "global"

func (*Conf) Kind() Kind { return KindConf }
func (c *Conf) Key() Key { return Key{Name: c.Host} }

// SchedConf is the scheduler configuration, sched_conf(5).
type SchedConf struct {
	Algorithm                   string    `conf:"algorithm" see:"keep"`
	ScheduleInterval            TimeText  `conf:"schedule_interval" see:"keep"`
	MaxUJobs                    uint32    `conf:"maxujobs"`
	QueueSortMethod             string    `conf:"queue_sort_method" see:"keep"`
	JobLoadAdjustments          Values    `conf:"job_load_adjustments" see:"keep"`
	LoadAdjustmentDecayTime     TimeText  `conf:"load_adjustment_decay_time" see:"keep"`
	LoadFormula                 string    `conf:"load_formula" see:"keep"`
	ScheddJobInfo               string    `conf:"schedd_job_info" see:"keep"`
	FlushSubmitSec              uint32    `conf:"flush_submit_sec"`
	FlushFinishSec              uint32    `conf:"flush_finish_sec"`
	Params                      string    `conf:"params,none" see:"keep"`
	ReprioritizeInterval        TimeText  `conf:"reprioritize_interval" see:"keep"`
	Halftime                    uint32    `conf:"halftime"`
	UsageWeightList             Values    `conf:"usage_weight_list,factors" see:"keep"`
	CompensationFactor          float64   `conf:"compensation_factor"`
	WeightUser                  float64   `conf:"weight_user"`
	WeightProject               float64   `conf:"weight_project"`
	WeightDepartment            float64   `conf:"weight_department"`
	WeightJob                   float64   `conf:"weight_job"`
	WeightTicketsFunctional     uint32    `conf:"weight_tickets_functional"`
	WeightTicketsShare          uint32    `conf:"weight_tickets_share"`
	ShareOverrideTickets        bool      `conf:"share_override_tickets"`
	ShareFunctionalShares       bool      `conf:"share_functional_shares"`
	MaxFunctionalJobsToSchedule uint32    `conf:"max_functional_jobs_to_schedule"`
	ReportPJobTickets           bool      `conf:"report_pjob_tickets"`
	MaxPendingTasksPerJob       uint32    `conf:"max_pending_tasks_per_job"`
	HalflifeDecayList           string    `conf:"halflife_decay_list,none" see:"keep"`
	PolicyHierarchy             string    `conf:"policy_hierarchy" see:"keep"`
	WeightTicket                float64   `conf:"weight_ticket"`
	WeightWaitingTime           float64   `conf:"weight_waiting_time"`
	WeightDeadline              float64   `conf:"weight_deadline"`
	WeightUrgency               float64   `conf:"weight_urgency"`
	WeightPriority              float64   `conf:"weight_priority"`
	MaxReservation              uint32    `conf:"max_reservation"`
	DefaultDuration             TimeText  `conf:"default_duration" see:"keep"`
	Sections                    []Section `conf:"-"` // the algorithms' own parameters
	Version                     uint32    `conf:"-"`
}

func (*SchedConf) Kind() Kind { return KindSchedConf }
func (*SchedConf) Key() Key   { return Key{Name: "schedconf"} }
