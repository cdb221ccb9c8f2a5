package grid

// PE is a parallel environment, sge_pe(5).
type PE struct {
	Name              string `conf:"pe_name" see:"keep"`
	Slots             uint32 `conf:"slots"`
	UserLists         Names  `conf:"user_lists,space" see:"keep"`
	XUserLists        Names  `conf:"xuser_lists,space" see:"keep"`
	StartProcArgs     string `conf:"start_proc_args,NONE" see:"cell"`
	StopProcArgs      string `conf:"stop_proc_args,NONE" see:"cell"`
	AllocationRule    string `conf:"allocation_rule" see:"keep"`
	ControlSlaves     bool   `conf:"control_slaves"`
	JobIsFirstTask    bool   `conf:"job_is_first_task"`
	UrgencySlots      string `conf:"urgency_slots" see:"keep"`
	AccountingSummary bool   `conf:"accounting_summary"`
	QsortArgs         string `conf:"qsort_args,NONE,optional" see:"cell"`
	Version           uint32 `conf:"-"`
}

func (*PE) Kind() Kind { return KindPE }
func (p *PE) Key() Key { return Key{Name: p.Name} }

// Ckpt is a checkpointing environment, checkpoint(5).
type Ckpt struct {
	Name           string `conf:"ckpt_name" see:"keep"`
	Interface      string `conf:"interface" see:"keep"`
	CkptCommand    string `conf:"ckpt_command,none" see:"cell"`
	MigrCommand    string `conf:"migr_command,none" see:"cell"`
	RestartCommand string `conf:"restart_command,none" see:"cell"`
	CleanCommand   string `conf:"clean_command,none" see:"cell"`
	CkptDir        string `conf:"ckpt_dir" see:"cell"`
	Signal         string `conf:"signal,none" see:"keep"`
	When           string `conf:"when" see:"keep"`
	Version        uint32 `conf:"-"`
}

func (*Ckpt) Kind() Kind { return KindCkpt }
func (c *Ckpt) Key() Key { return Key{Name: c.Name} }

// Calendar is a calendar, calendar_conf(5). Its current state is set by qmaster, which
// knows the cell's time zone.
type Calendar struct {
	Name    string `conf:"calendar_name" see:"keep"`
	Year    string `conf:"year,NONE" see:"keep"`
	Week    string `conf:"week,NONE" see:"keep"`
	Version uint32 `conf:"-"`

	State  QueueState `conf:"-"` // 0, QueueCalDisabled or QueueCalSuspended
	Until  Time       `conf:"-"` // State holds until then
	Closed []Window   `conf:"-"` // when its queues are closed from now on, the next few times
}

// Window is the time from Start until before End.
type Window struct{ Start, End Time }

func (*Calendar) Kind() Kind { return KindCalendar }
func (c *Calendar) Key() Key { return Key{Name: c.Name} }
