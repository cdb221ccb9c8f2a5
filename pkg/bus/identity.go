package bus

import "strings"

// Role is what a connection is for; with the name it decides what it may
// publish and read.
type Role string

// The roles of a cell.
const (
	User      Role = "user"      // a person: sends requests in the own name, reads public events
	Admin     Role = "admin"     // a person with the cell's admin uid: also reads the whole feed
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

// AsksFrom reports whether an answer to reply reaches id and no other identity. The
// server does not look at the reply subject of a request; without this check a
// user could have qmaster write to another user.
func (id Identity) AsksFrom(reply string) bool { return strings.HasPrefix(reply, id.inbox()+".") }

// inbox is the prefix below which id gets its answers and no other identity reads.
func (id Identity) inbox() string { return inboxPrefix + id.Token() }
