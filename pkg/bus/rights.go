package bus

import (
	"slices"
	"strings"
	"time"
)

// subjectRight is a row of the table of rights: which roles may publish on a subject, and which
// may read it. ID stands for the word of the connection's identity, HOST for its name:
// no identity has a right to a subject of another one.
type subjectRight struct {
	subject       string
	publish, read []Role
}

// rights is the one table of permissions on the bus. The embedded server enforces it
// through its authentication hook, the socket for local connections; an external server is configured
// from it (Permissions). What a user's request may do is decided by qmaster/core from the
// user's name.
//
// Guests may do no more than log in. Other requests are for people: a host or a scheduler has no rights as a user, even
// of that name. Only qmaster touches the log or JetStream: a right to create consumers is a right to have stream
// messages delivered to any subject.
var rights = []subjectRight{
	{subject: "ge.cmd.ID.>", publish: []Role{User, Admin}},
	{subject: "ge.cmd.ID.ways-to-log-in", publish: []Role{Guest}},
	{subject: "ge.cmd.ID.log-in", publish: []Role{Guest}},
	{subject: "ge.reg.ID", publish: []Role{User, Admin, Scheduler}},
	{subject: "ge.ack.ID.>", publish: []Role{User, Admin, Scheduler}},
	{subject: "ge.ord.ID", publish: []Role{Scheduler}},
	{subject: "ge.host.HOST.rep", publish: []Role{Host}},
	{subject: "ge.load.HOST", publish: []Role{Host}},
	{subject: "ge.host.HOST.cmd", read: []Role{Host}},
	{subject: "ge.host.HOST.read", read: []Role{Host}},
	{subject: eventsSubject, read: []Role{User, Admin, Scheduler}},
	{subject: feedSubject, read: []Role{Admin}},
	{subject: servingSubject, read: []Role{User, Admin, Host, Scheduler, Guest}},
	{subject: inboxPrefix + "ID.>", read: []Role{User, Admin, Host, Scheduler, Guest}},
	{subject: ">", publish: []Role{QMaster}, read: []Role{QMaster}},
}

// Allow lists the subjects, with wildcards, that a connection may use.
type Allow struct {
	Publish, Subscribe []string
	Respond            bool // may answer every request it is sent: ResponsesMax times within ResponseLife
}

// Limits of Allow.Respond.
const (
	ResponsesMax = 1
	ResponseLife = 2 * time.Minute
)

// Permissions is what the table of rights allows an identity.
func Permissions(id Identity) Allow {
	// A host answers commands, which come from qmaster's inbox.
	own := Allow{Respond: id.Role == Host}
	names := strings.NewReplacer("ID", id.Word(), "HOST", EncodeName(id.Name))
	for _, r := range rights {
		subject := r.subject
		if subject != ">" {
			subject = names.Replace(subject)
		}
		if slices.Contains(r.publish, id.Role) {
			own.Publish = append(own.Publish, subject)
		}
		if slices.Contains(r.read, id.Role) {
			own.Subscribe = append(own.Subscribe, subject)
		}
	}
	return own
}

// MayAsk reports whether a role may send requests (ge.cmd).
func (r Role) MayAsk() bool { return slices.Contains(rights[0].publish, r) }
