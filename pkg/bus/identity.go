package bus

import (
	"strconv"
	"strings"
)

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
	Guest     Role = "guest"     // nobody: may log in, over the network (guest.go)
)

// Identity is who a connection acts as, once the server has made sure of it.
type Identity struct {
	Role Role
	Name string // user name, host name, scheduler name; a client with a token does not know it
	// Token is the number of the token that the connection was opened with (token.go), 0: none. The
	// role is User then, and the server gets the name from the number.
	Token uint32
}

var roleLetters = map[Role]string{User: "u", Admin: "a", Host: "h", Scheduler: "s", QMaster: "q", Guest: "g"}

// tokenLetter stands in place of that of the role User for one with a token.
const tokenLetter = "t"

// Known reports whether the role is one of the above, and there is a name or a token.
func (id Identity) Known() bool {
	return roleLetters[id.Role] != "" && (id.Name != "" || id.Role == User && id.Token != 0)
}

// Word is the identity as one word of a subject: u-alice, h-node1=2Eexample, t-7 for a
// user with token 7.
func (id Identity) Word() string {
	if id.Token != 0 {
		return tokenLetter + "-" + strconv.FormatUint(uint64(id.Token), 10)
	}
	return roleLetters[id.Role] + "-" + EncodeName(id.Name)
}

func (id Identity) String() string {
	s := string(id.Role) + " " + id.Name
	if id.Token != 0 {
		s = strings.TrimSpace(s) + " with token " + strconv.FormatUint(uint64(id.Token), 10)
	}
	return s
}

// ParseWord undoes Word, except that it does not know the name of a user with a token.
func ParseWord(word string) (Identity, bool) {
	letter, name, ok := strings.Cut(word, "-")
	if !ok {
		return Identity{}, false
	}
	if letter == tokenLetter {
		number, ok := parseTokenNumber(name)
		return Identity{Role: User, Token: number}, ok
	}
	plain, err := DecodeName(name)
	if err != nil {
		return Identity{}, false
	}
	for role, l := range roleLetters {
		if l == letter {
			return Identity{Role: role, Name: plain}, true
		}
	}
	return Identity{}, false
}

// OwnsInbox reports whether an answer to reply reaches id and no other identity. The
// server does not look at the reply subject of a request; without this check a
// user could have qmaster write to another user.
func (id Identity) OwnsInbox(reply string) bool { return strings.HasPrefix(reply, id.inbox()+".") }

// inbox is the prefix below which id gets its answers and no other identity reads.
func (id Identity) inbox() string { return inboxPrefix + id.Word() }
