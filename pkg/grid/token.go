package grid

import "fmt"

// Token is a credential that a user has made for a program, quill(8): who connects with it
// acts as Owner, within Scope, until Expires. The number is never given to another token.
// Only its owner ever has the secret: Digest is the SHA-256 of it.
type Token struct {
	ID      uint32
	Owner   string `see:"who"`
	Scope   Scope
	Created Time
	Expires Time
	Comment string `see:"owner"`
	Digest  []byte `see:"daemons"`
}

func (*Token) Kind() Kind { return KindToken }
func (t *Token) Key() Key { return Key{ID: t.ID} }

// TokenSeqNum names the counter of tokens: the last number given.
const TokenSeqNum = "tokenseqnum"

// RequestVariable names the environment variable with the number of the first request of a command that makes
// something, so that a command whose outcome is not known can be repeated and makes no second job.
const RequestVariable = "QUILL_REQUEST"

// TokenVariable names the environment variable with the token that commands connect with.
const TokenVariable = "QUILL_TOKEN"

// Limits of tokens.
const (
	TokensOfUser    = 100                // tokens of one user
	TokenLife       = 30 * 24 * 60 * 60  // seconds, of a token that is made without a time
	TokenLifeLeast  = 60                 // seconds
	TokenLifeMost   = 366 * 24 * 60 * 60 // seconds
	TokenCommentMax = 200                // bytes
	TokenDigest     = 32                 // bytes of a digest
)

// Scope is what a token may be used for. Each scope includes those before it.
type Scope uint8

const (
	ScopeRead    Scope = iota + 1 // listings and events
	ScopePropose                  // proposals, which a person approves or rejects
	ScopeSubmit                   // what a user may do to the own jobs and reservations
	ScopeOperate                  // what the owner may do, as operator or manager, too
)

var scopeNames = [...]string{ScopeRead: "read", ScopePropose: "propose", ScopeSubmit: "submit", ScopeOperate: "operate"}

// Known reports whether s is one of the scopes.
func (s Scope) Known() bool { return s >= ScopeRead && s <= ScopeOperate }

// String returns the name of the scope.
func (s Scope) String() string {
	if s.Known() {
		return scopeNames[s]
	}
	return fmt.Sprintf("scope %d", uint8(s))
}

// ScopeNames are the scopes in a sentence.
const ScopeNames = "read, propose, submit or operate"

// ParseScope undoes String; false: there is no such scope.
func ParseScope(name string) (Scope, bool) {
	for s := ScopeRead; s <= ScopeOperate; s++ {
		if scopeNames[s] == name {
			return s, true
		}
	}
	return 0, false
}

// Login is an ID token of the identity provider that was exchanged for a token. It is kept until the ID token expires,
// so that no ID token is exchanged twice.
type Login struct {
	ID      string `see:"keep"` // the SHA-256 of the ID token, in hexadecimal digits
	Token   uint32 // that it was exchanged for
	Expires Time   // of the ID token
}

func (*Login) Kind() Kind { return KindLogin }
func (l *Login) Key() Key { return Key{Name: l.ID} }
