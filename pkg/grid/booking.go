package grid

// Booking is what a user, a user for one project, or a project as a whole has
// consumed: with the user's own name alone what was consumed without a
// project, as share_tree(5) counts it. Decayed is as of At; LongTerm never
// decays. It stands apart from User and Project so that configuring those
// changes no usage, and the end of a job changes no configuration.
type Booking struct {
	User, Project     string `see:"who"` // at least one of them
	Decayed, LongTerm Amounts
	At                Time
}

func (*Booking) Kind() Kind { return KindBooking }
func (b *Booking) Key() Key { return BookingKey(b.User, b.Project) }

// BookingKey names a booking: "alice/" is the user's, "alice/p1" the user's for
// the project, "/p1" the project's.
func BookingKey(user, project string) Key { return Key{Name: user + "/" + project} }

// Amounts are the usage values that are booked, by UsageCPU and its siblings.
type Amounts [4]float64

// The usage values, as they stand in usage_weight_list and
// halflife_decay_list of sched_conf(5).
const (
	UsageCPU          = iota // seconds
	UsageMem                 // GB seconds
	UsageIO                  // GB
	UsageFinishedJobs        // tasks that have ended
)

// UsageNames are the names of Amounts' elements.
var UsageNames = [...]string{UsageCPU: "cpu", UsageMem: "mem", UsageIO: "io", UsageFinishedJobs: "finished_jobs"}

// Amounts are the usage values of a task that are booked.
func (u Usage) Amounts() Amounts { return Amounts{UsageCPU: u.CPU, UsageMem: u.Mem, UsageIO: u.IO} }

// Plus adds value by value.
func (a Amounts) Plus(o Amounts) Amounts {
	for i := range a {
		a[i] += o[i]
	}
	return a
}

// Over is by how much a exceeds o, value by value; never less than 0.
func (a Amounts) Over(o Amounts) Amounts {
	for i := range a {
		a[i] = max(a[i]-o[i], 0)
	}
	return a
}
