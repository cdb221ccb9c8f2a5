package grid

// AR is an advance reservation, qrsub(1): what was asked for, and the queue
// instances that were granted. While it lasts only its jobs (qsub -ar)
// may use what it holds.
type AR struct {
	ID                 uint32
	Name               string   `see:"job"`
	Owner              string   `see:"who"`
	Account            string   `see:"cell"`
	Start, End, Submit Time     // when submitted, one of Start, End and Duration may be 0
	State              ARState  `see:"keep"`
	Hard               Requests // -l
	Queues             Names    `see:"keep"` // -q
	PE                 string   `see:"keep"`
	PERange            Ranges
	Grants             []Grant // the first is the master's
	ACL, XACL          Names   `see:"who"` // -u: users and @usersets; none: the owner
	ErrorHandlingHard  bool    // -he y: in error no job of it starts

	Group        string   `see:"who"`
	Duration     uint32   // seconds
	MasterQueues Names    `see:"keep"` // -masterq
	Ckpt         string   `see:"keep"`
	Interactive  bool     // -now y: of interactive queues only
	MailOptions  string   `see:"keep"` // -m: of b e a n
	MailTo       Names    `see:"cell"`
	Verify       string   `see:"keep"` // -w: e or v
	GrantedPE    string   `see:"keep"`
	Binding      *Binding // -bamount: units that are kept for its jobs; nil: none
	Message      Names    `see:"text"` // why it is in state W or E, a sentence each
}

func (*AR) Kind() Kind { return KindAR }
func (a *AR) Key() Key { return Key{ID: a.ID} }

// ARState is where an advance reservation is in its life, as qrstat prints it.
type ARState string

const (
	ARWaiting ARState = "w" // for its start
	ARRunning ARState = "r"
	ARWarning ARState = "W" // waiting, and not everything it holds could be used now
	ARError   ARState = "E" // running, and not everything it holds can be used
	ARDeleted ARState = "d" // by qrdel: gone when the last of its jobs is
	ARExited  ARState = "x" // its end has come: gone when the last of its jobs is
)

// Over reports whether the reservation takes no jobs any more.
func (a *AR) Over() bool { return a.State == ARDeleted || a.State == ARExited }

// Slots is how many slots it holds.
func (a *AR) Slots() (n uint32) {
	for _, g := range a.Grants {
		n += g.Slots
	}
	return n
}

// ARSeqNum names the counter of advance reservations: the last number given.
const ARSeqNum = "arseqnum"

// MostARs is the highest number of an advance reservation; after it numbers
// begin at 1 again.
const MostARs = 9999999
