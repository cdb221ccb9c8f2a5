package submit

import (
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/switches"
)

// Booking is what the words of qrsub(1) request. Line is the words, Now the time of words like -a.
type Booking struct {
	*grid.AR
	Line   []string
	Now    time.Time
	Format switches.Format
}

// Qrsub is the language of qrsub(1).
func Qrsub(now func() time.Time) *switches.Command[Booking] {
	return &switches.Command[Booking]{
		Name: "qrsub", Usage: "[options]", Indent: 3, Column: 44, Prefix: "qrsub: ",
		Defaults: "sge_ar_request", Begin: func(w *Booking) { w.Format.Begin() },
		New: func(line []string) *Booking {
			return &Booking{AR: new(grid.AR), Line: line, Now: now()}
		},
		Switches: []switches.Switch[Booking]{
			{Name: "a", Args: "date_time", Help: "request a start time", Take: switches.One,
				Set: func(w *Booking, words []string) (err error) { w.Start, err = w.dateTime("a", words[0]); return err }},
			{Name: "A", Args: "account_string", Help: "account string in accounting record", Take: switches.One,
				Set: switches.Text(func(w *Booking) *string { return &w.Account })},
			bookingUnits("bamount", "number", "reserve this many units per slot or host"),
			bookingUnits("bfilter", "topology", "do not reserve what is in lower case"),
			bookingUnits("btype", "slot|host", "what the number of -bamount is for"),
			bookingUnits("bunit", "T|C|E|S|X|Y|N|...", "what -bamount counts"),
			{Name: "ckpt", Args: "ckpt-name", Help: "request checkpoint method", Take: switches.One,
				Set: switches.Text(func(w *Booking) *string { return &w.Ckpt })},
			{Name: "d", Args: "time", Help: "duration of time window", Take: switches.One, Set: (*Booking).setDuration},
			{Name: "e", Args: "date_time", Help: "request an end time", Take: switches.One,
				Set: func(w *Booking, words []string) (err error) { w.End, err = w.dateTime("e", words[0]); return err }},
			switches.Fmt(func(w *Booking) *switches.Format { return &w.Format }),
			{Name: "he", Args: "y[es]|n[o]", Help: "enable/disable hard error handling", Take: switches.One,
				Set: bookingYesNo("he", func(w *Booking, yes bool) { w.ErrorHandlingHard = yes })},
			{Name: "help", Help: "print this help"},
			{Name: "l", Args: "resource_list", Help: "request the given resources", Take: switches.One,
				Set: func(w *Booking, words []string) error {
					requests, ok := switches.Requests(w.Hard, words[0])
					if !ok {
						return switches.Errorf("Wrong resource list format %q specified to -l option", words[0])
					}
					w.Hard = requests
					return nil
				}},
			{Name: "m", Args: "mail_options", Help: "define mail notification events", Take: switches.One,
				Set: (*Booking).mailOptions},
			{Name: "M", Args: "mail_list", Help: "notify these e-mail addresses", Take: switches.One,
				Set: bookingNames("mail list", "M", func(w *Booking) *grid.Names { return &w.MailTo })},
			{Name: "masterq", Args: "wc_queue_list", Help: "bind master task to queue(s)", Take: switches.One,
				Set: bookingNames("queue list", "masterq", func(w *Booking) *grid.Names { return &w.MasterQueues })},
			{Name: "N", Args: "name", Help: "specify name of advance reservation", Take: switches.One,
				Set: (*Booking).setName},
			{Name: "now", Args: "y[es]|n[o]", Help: "consider only interactive queues", Take: switches.One,
				Set: bookingYesNo("now", func(w *Booking, yes bool) { w.Interactive = yes })},
			{Name: "pe", Args: "wc_pe_name slot_range", Help: "request slot range for parallel jobs", Take: switches.Two,
				Missing: "range as 2nd argument",
				Set: func(w *Booking, words []string) (err error) {
					w.PE = words[0]
					w.PERange, err = switches.SlotRanges(words[1])
					return err
				}},
			{Name: "q", Args: "wc_queue_list", Help: "reserve in these queue(s)", Take: switches.One,
				Set: bookingNames("queue list", "q", func(w *Booking) *grid.Names { return &w.Queues })},
			{Name: "u", Args: "wc_user_list", Help: "users and @access lists whose jobs may use it", Take: switches.One,
				Set: bookingNames("user list", "u", func(w *Booking) *grid.Names { return &w.ACL })},
			{Name: "w", Args: "e|v", Help: "verify mode (error|just verify)", Take: switches.One,
				Set: (*Booking).setVerify},
		},
		Legend: bookingLegend,
	}
}

func (w *Booking) setName(words []string) error {
	if strings.Contains(words[0], "/") {
		return switches.Errorf("argument to -N option must not contain / ")
	}
	w.Name = words[0]
	return nil
}

func (w *Booking) setVerify(words []string) error {
	if words[0] != "e" && words[0] != "v" {
		return switches.Errorf("invalid option argument \"-w %s\"", words[0])
	}
	w.Verify = words[0]
	return nil
}

const bookingLegend = `
account_string          account_name
date_time               [[CC]YY]MMDDhhmm[.SS]
mail_address            username[@host]
mail_list               mail_address[,mail_address,...]
mail_options            ` + "`e' `b' `a' `n'" + ` (end, begin, error, no)
resource_list           resource[=value][,resource[=value],...]
slot_range              [n[-m]|[-]m] - n,m > 0
time                    hours:minutes:seconds | seconds
wc_cqueue               wildcard expression matching a cluster queue
wc_host                 wildcard expression matching a host
wc_hostgroup            wildcard expression matching a hostgroup
wc_qinstance            wc_cqueue@wc_host
wc_qdomain              wc_cqueue@wc_hostgroup
wc_queue                wc_cqueue|wc_qdomain|wc_qinstance
wc_queue_list           wc_queue[,wc_queue,...]
wc_user_list            user|@access_list[,user|@access_list,...]
`

// dateTime reads the value of -a and -e.
func (w *Booking) dateTime(name, text string) (grid.Time, error) {
	at, ok := switches.DateTime(text, w.Now)
	if !ok {
		return 0, switches.Errorf("Wrong date/time format %q specified to -%s option", text, name)
	}
	return at, nil
}

func (w *Booking) setDuration(words []string) error {
	seconds, ok := grid.ParseTimeSpan(words[0])
	if !ok || seconds >= 1<<32 {
		return switches.Errorf("Wrong time format %q specified to -d option", words[0])
	}
	w.Duration = uint32(seconds)
	return nil
}

// mailOptions reads the letters of -m; several -m add up, n is none.
func (w *Booking) mailOptions(words []string) error {
	if strings.Trim(words[0], ",") == "" || strings.Trim(words[0], "aben,") != "" {
		return switches.Errorf("Wrong mail options list format %q specified to -m option", words[0])
	}
	letters := ""
	for _, l := range "abe" {
		if strings.ContainsRune(words[0]+w.MailOptions, l) {
			letters += string(l)
		}
	}
	if strings.Contains(words[0], "n") {
		letters = "n"
	}
	w.MailOptions = letters
	return nil
}

func bookingYesNo(name string, set func(*Booking, bool)) func(*Booking, []string) error {
	return func(w *Booking, words []string) error {
		yes, ok := switches.YesNo(words[0])
		if !ok {
			return switches.Errorf("invalid option argument \"-%s %s\"", name, words[0])
		}
		set(w, yes)
		return nil
	}
}

func bookingNames(what, name string, list func(*Booking) *grid.Names) func(*Booking, []string) error {
	return func(w *Booking, words []string) error {
		more := switches.Names(words[0])
		if len(more) == 0 {
			return switches.Errorf("Wrong %s format %q specified to -%s option", what, words[0], name)
		}
		l := list(w)
		for _, n := range more {
			if !l.Has(n) {
				*l = append(*l, n)
			}
		}
		return nil
	}
}

// Reservation returns the advance reservation that words of qrsub mean, without files of defaults. now is the time of
// words like -a.
func Reservation(now time.Time, words []string) (*grid.AR, error) {
	c := Qrsub(func() time.Time { return now })
	if len(words) == 0 {
		return nil, switches.ErrNoOperands
	}
	w := c.New(words)
	err := c.Parse(w, words)
	return w.AR, err
}
