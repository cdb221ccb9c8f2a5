package bus

import (
	"fmt"
	"strings"
)

// The subjects of a cell. ID is the word of the identity that publishes (see
// Identity.Word): the server lets a connection publish only under its own, so the
// subject, not the payload, identifies the client.
//
//	ge.cmd.ID.WHAT      requests of users (gdi), answered by qmaster
//	ge.reg.ID           an event client registers; answered with the full state
//	ge.ord.ID           a scheduler's orders, answered with the Result
//	ge.ack.ID.N         credit for a streamed answer
//	ge.host.HOST.cmd    commands to one execd, answered when taken over
//	ge.host.HOST.read   requests for parts of output files, answered with them
//	ge.host.HOST.rep    its reports, answered when they are durable
//	ge.load.HOST        its load values; latest wins, no answer
//	ge.serving          qmaster serves; clients that wait repeat their requests
//	ge.feed             every appended frame, as it is in the log: administrators
//	ge.events           the same lists without what is private: users and schedulers
//	ge.lease.NAME       a lease was given up; qmasters only
//	ge.ev.EPOCH         the log itself: stream GE_EVENTS, qmaster only
//	ge.debug.EPOCH      what schedulers ordered, for a while: stream GE_DEBUG, qmaster only
//	_INBOX_ID.>         answers, readable by ID only
//
// Every user sees every job and its arguments, as in Grid Engine. Private data
// (grid.SeeTag: scripts, environments, secrets) travels on ge.feed and, to the host that
// runs a job, on ge.host.HOST.cmd; qmaster removes it from what it publishes on
// ge.events. The table of rights (rights.go) lists the roles that may use each subject.
const (
	servingSubject = "ge.serving"
	feedSubject    = "ge.feed"
	eventsSubject  = "ge.events"
	leasePrefix    = "ge.lease."
	logPrefix      = "ge.ev."
	inboxPrefix    = "_INBOX_"
	ackPrefix      = "ge.ack."
)

// FeedSubject carries every frame of the log once it is durable, exactly as
// appended.
func FeedSubject() string { return feedSubject }

// EventsSubject carries what every user and scheduler may see of the feed, in frames
// of a chain of its own with the same Seq numbers.
func EventsSubject() string { return eventsSubject }

// CmdSubject is where id asks for what ("add", "del", "get", ...).
func CmdSubject(id Identity, what string) string { return "ge.cmd." + id.Word() + "." + what }

// RegSubject is where id registers as an event client.
func RegSubject(id Identity) string { return "ge.reg." + id.Word() }

// OrderSubject is where a scheduler sends its orders.
func OrderSubject(id Identity) string { return "ge.ord." + id.Word() }

// HostCmdSubject is where the execd of host takes its commands.
func HostCmdSubject(host string) string { return "ge.host." + EncodeName(host) + ".cmd" }

// HostOfCmd returns the host whose execd takes its commands there, "" for another subject.
func HostOfCmd(subject string) string {
	token, of := strings.CutPrefix(subject, "ge.host.")
	token, cmd := strings.CutSuffix(token, ".cmd")
	host, err := DecodeName(token)
	if !of || !cmd || err != nil {
		return ""
	}
	return host
}

// HostReadSubject is where the execd of host is asked for parts of output files.
func HostReadSubject(host string) string { return "ge.host." + EncodeName(host) + ".read" }

// HostRepSubject is where the execd of host reports.
func HostRepSubject(host string) string { return "ge.host." + EncodeName(host) + ".rep" }

// LoadSubject is where the execd of host publishes its load values.
func LoadSubject(host string) string { return "ge.load." + EncodeName(host) }

// Patterns for qmaster to serve.
const (
	AllCmd   = "ge.cmd.>"
	AllReg   = "ge.reg.*"
	AllOrder = "ge.ord.*"
	AllRep   = "ge.host.*.rep"
	AllLoad  = "ge.load.*"
)

// Sender returns whose subject this is: the identity that the server made sure of
// when the message was published. It is the only name of the asker to be
// trusted.
func Sender(subject string) (Identity, bool) {
	part := strings.SplitN(subject, ".", 5)
	if len(part) < 3 || part[0] != "ge" {
		return Identity{}, false
	}
	switch part[1] {
	case "cmd", "reg", "ord", "ack":
		return ParseWord(part[2])
	case "host":
		if len(part) == 4 && part[3] != "rep" {
			return Identity{}, false // commands come from qmaster, for the host
		}
		fallthrough
	case "load":
		name, err := DecodeName(part[2])
		return Identity{Role: Host, Name: name}, err == nil
	}
	return Identity{}, false
}

const hexDigits = "0123456789ABCDEF"

func plainByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-'
}

// EncodeName makes a name of any bytes fit for one token of a subject: letters,
// digits, _ and - stay, every other byte becomes = and two hex digits, so
// node1.example.com is node1=2Eexample=2Ecom.
func EncodeName(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if c := name[i]; plainByte(c) {
			b.WriteByte(c)
		} else {
			b.WriteByte('=')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		}
	}
	return b.String()
}

// DecodeName undoes EncodeName and refuses everything EncodeName does not write,
// so that no two tokens mean one name.
func DecodeName(token string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(token); i++ {
		c := token[i]
		if plainByte(c) {
			b.WriteByte(c)
			continue
		}
		if c != '=' || i+2 >= len(token) {
			return "", fmt.Errorf("bad name %q in subject", token)
		}
		hi, lo := strings.IndexByte(hexDigits, token[i+1]), strings.IndexByte(hexDigits, token[i+2])
		if hi < 0 || lo < 0 || plainByte(byte(hi<<4|lo)) {
			return "", fmt.Errorf("bad name %q in subject", token)
		}
		b.WriteByte(byte(hi<<4 | lo))
		i += 2
	}
	if b.Len() == 0 {
		return "", fmt.Errorf("empty name in subject")
	}
	return b.String(), nil
}
