package grid

// PE is a parallel environment, sge_pe(5).
type PE struct {
	Name              string `conf:"pe_name"`
	Slots             uint32 `conf:"slots"`
	UserLists         Names  `conf:"user_lists,space"`
	XUserLists        Names  `conf:"xuser_lists,space"`
	StartProcArgs     string `conf:"start_proc_args,NONE"`
	StopProcArgs      string `conf:"stop_proc_args,NONE"`
	AllocationRule    string `conf:"allocation_rule"`
	ControlSlaves     bool   `conf:"control_slaves"`
	JobIsFirstTask    bool   `conf:"job_is_first_task"`
	UrgencySlots      string `conf:"urgency_slots"`
	AccountingSummary bool   `conf:"accounting_summary"`
	QsortArgs         string `conf:"qsort_args,NONE,optional"`
	Version           uint32 `conf:"-"`
}

func (*PE) Kind() Kind { return KindPE }
func (p *PE) Key() Key { return Key{Name: p.Name} }

// Ckpt is a checkpointing environment, checkpoint(5).
type Ckpt struct {
	Name           string `conf:"ckpt_name"`
	Interface      string `conf:"interface"`
	CkptCommand    string `conf:"ckpt_command,none"`
	MigrCommand    string `conf:"migr_command,none"`
	RestartCommand string `conf:"restart_command,none"`
	CleanCommand   string `conf:"clean_command,none"`
	CkptDir        string `conf:"ckpt_dir"`
	Signal         string `conf:"signal,none"`
	When           string `conf:"when"`
	Version        uint32 `conf:"-"`
}

func (*Ckpt) Kind() Kind { return KindCkpt }
func (c *Ckpt) Key() Key { return Key{Name: c.Name} }

// Calendar is a calendar, calendar_conf(5). Its current state is set by qmaster, which
// knows the cell's time zone.
type Calendar struct {
	Name    string `conf:"calendar_name"`
	Year    string `conf:"year,NONE"`
	Week    string `conf:"week,NONE"`
	Version uint32 `conf:"-"`

	State  QueueState `conf:"-"` // 0, QueueCalDisabled or QueueCalSuspended
	Until  Time       `conf:"-"` // State holds until then
	Closed []Window   `conf:"-"` // when its queues are closed from now on, the next few times
}

// Window is the time from Start until before End.
type Window struct{ Start, End Time }

func (*Calendar) Kind() Kind { return KindCalendar }
func (c *Calendar) Key() Key { return Key{Name: c.Name} }
