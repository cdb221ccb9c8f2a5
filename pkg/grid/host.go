package grid

import "strings"

// ExecHost is an execution host, host_conf(5); "global" is the object for cluster-wide
// values. Values that the host reports of itself are in its Load.
type ExecHost struct {
	Name            string `conf:"hostname" see:"keep"`
	LoadScaling     Values `conf:"load_scaling,factors" see:"keep"`
	ComplexValues   Values `conf:"complex_values" see:"keep"`
	UserLists       Names  `conf:"user_lists,space" see:"keep"`
	XUserLists      Names  `conf:"xuser_lists,space" see:"keep"`
	Projects        Names  `conf:"projects,space" see:"who"`
	XProjects       Names  `conf:"xprojects,space" see:"who"`
	UsageScaling    Values `conf:"usage_scaling,factors" see:"keep"`
	ReportVariables Names  `conf:"report_variables,comma" see:"keep"`
	Version         uint32 `conf:"-"`
}

// GlobalHost is the name of the object for cluster-wide values.
const GlobalHost = "global"

func (*ExecHost) Kind() Kind { return KindExecHost }
func (h *ExecHost) Key() Key { return Key{Name: h.Name} }

// Load is what an execution host last reported of itself: load values in
// report order, as text. Unheard means that max_unheard has passed since.
type Load struct {
	Host       string `see:"keep"`
	Values     Values `see:"keep"`
	Reported   Time
	Processors uint32
	Unheard    bool
}

func (*Load) Kind() Kind { return KindLoad }
func (l *Load) Key() Key { return Key{Name: l.Host} }

// SensorTrouble is the load value with which a host says which of its load sensors report nothing, and why. It is no
// attribute of the complex.
const SensorTrouble = "load_sensor_trouble"

// AdminHost may run administrative commands (qconf -ah).
type AdminHost struct {
	Name string `see:"keep"`
}

func (*AdminHost) Kind() Kind { return KindAdminHost }
func (h *AdminHost) Key() Key { return Key{Name: h.Name} }

// SubmitHost may submit jobs (qconf -as).
type SubmitHost struct {
	Name string `see:"keep"`
}

func (*SubmitHost) Kind() Kind { return KindSubmitHost }
func (h *SubmitHost) Key() Key { return Key{Name: h.Name} }

// HGroup is a host group, hostgroup(5). Name begins with @; members are hosts
// and other groups.
type HGroup struct {
	Name     string `conf:"group_name" see:"keep"`
	HostList Names  `conf:"hostlist,space" see:"keep"`
	Version  uint32 `conf:"-"`
}

func (*HGroup) Kind() Kind { return KindHGroup }
func (g *HGroup) Key() Key { return Key{Name: g.Name} }

// SameHost compares host names; one without domain matches any domain.
func SameHost(a, b string) bool {
	if strings.EqualFold(a, b) {
		return true
	}
	shortA, domainA, _ := strings.Cut(a, ".")
	shortB, domainB, _ := strings.Cut(b, ".")
	return strings.EqualFold(shortA, shortB) && (domainA == "" || domainB == "")
}
