package grid

// RQS is a resource quota set, sge_resource_quota(5): rules as written, in
// order.
type RQS struct {
	Name        string `conf:"name"`
	Description string `conf:"description,NONE"`
	Enabled     bool   `conf:"enabled"`
	Limits      Names  `conf:"limit"`
	Version     uint32 `conf:"-"`
}

func (*RQS) Kind() Kind { return KindRQS }
func (r *RQS) Key() Key { return Key{Name: r.Name} }

// AR is an advance reservation, qrsub(1).
type AR struct {
	ID                   uint32
	Name, Owner, Account string
	Start, End, Submit   Time
	State                string // w r W E d x
	Hard                 Requests
	Queues               Names
	PE                   string
	PERange              Ranges
	Grants               []Grant
	ACL, XACL            Names
	ErrorHandlingHard    bool
}

func (*AR) Kind() Kind { return KindAR }
func (a *AR) Key() Key { return Key{ID: a.ID} }
