package bus

import (
	"strings"
	"time"
)

// Role says what a connection is for; with the name it decides what it may
// publish and read.
type Role string

// The roles of a cell.
const (
	User      Role = "user"      // a person: asks in his own name, sees public events
	Admin     Role = "admin"     // a person with the cell's admin uid: also sees the whole feed
	Host      Role = "host"      // execd of one host
	Scheduler Role = "scheduler" // schedd
	QMaster   Role = "qmaster"   // the owner of the log
)

// Identity is who a connection acts as, once the server has made sure of it.
type Identity struct {
	Role Role
	Name string // user name, host name, scheduler name
}

var roleLetters = map[Role]string{User: "u", Admin: "a", Host: "h", Scheduler: "s", QMaster: "q"}

// Known reports whether the role is one of the above and the name not empty.
func (id Identity) Known() bool { return roleLetters[id.Role] != "" && id.Name != "" }

// Token is the identity as one token of a subject: u-alice, h-node1=2Eexample.
func (id Identity) Token() string { return roleLetters[id.Role] + "-" + EncodeName(id.Name) }

func (id Identity) String() string { return string(id.Role) + " " + id.Name }

// ParseToken undoes Token.
func ParseToken(token string) (Identity, bool) {
	letter, name, ok := strings.Cut(token, "-")
	if !ok {
		return Identity{}, false
	}
	plain, err := DecodeName(name)
	if err != nil {
		return Identity{}, false
	}
	for role, l := range roleLetters {
		if l == letter {
			return Identity{role, plain}, true
		}
	}
	return Identity{}, false
}

// AsksFrom reports whether an answer to reply reaches id and nobody else. The
// server does not look at the reply subject of a request; without this check a
// user could have qmaster write to somebody else.
func (id Identity) AsksFrom(reply string) bool { return strings.HasPrefix(reply, id.inbox()+".") }

// inbox is the prefix below which id gets its answers and nobody else reads.
func (id Identity) inbox() string { return inboxPrefix + id.Token() }

// Allow lists the subjects, with wildcards, that a connection may use.
type Allow struct {
	Publish, Subscribe []string
	Respond            bool // may answer every request it is sent: ResponsesMax times within ResponseLife
}

// What Allow.Respond means.
const (
	ResponsesMax = 1
	ResponseLife = 2 * time.Minute
)

// Permissions is the one place that says who may do what on the bus. The
// embedded server enforces it through its authentication hook; an external
// server is configured from the same lists.
//
// Nobody but qmaster touches the log or JetStream: a right to create consumers
// is a right to have stream messages delivered to any subject.
func Permissions(id Identity) Allow {
	token := id.Token()
	own := Allow{
		Publish:   []string{"ge.cmd." + token + ".>", "ge.reg." + token, "ge.ack." + token + ".>"},
		Subscribe: []string{id.inbox() + ".>", servingSubject},
	}
	host := EncodeName(id.Name)
	switch id.Role {
	case User:
		own.Subscribe = append(own.Subscribe, eventsSubject)
	case Admin:
		own.Subscribe = append(own.Subscribe, eventsSubject, feedSubject)
	case Scheduler:
		own.Publish = append(own.Publish, "ge.ord."+token)
		own.Subscribe = append(own.Subscribe, feedSubject)
	case Host:
		own.Publish = append(own.Publish, "ge.host."+host+".rep", "ge.load."+host)
		own.Subscribe = append(own.Subscribe, "ge.host."+host+".cmd")
		own.Respond = true // commands come from qmaster's inbox
	case QMaster:
		return Allow{Publish: []string{">"}, Subscribe: []string{">"}}
	default:
		return Allow{}
	}
	return own
}
