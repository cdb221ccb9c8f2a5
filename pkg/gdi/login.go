package gdi

import (
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Ways are how users log in to the cell: what a client has to know of grid.Logins.
type Ways struct {
	Issuer  string     // URL of the identity provider; "": there is none
	Client  string     // the client id of the cell there
	Cert    string     // FIELD:PATTERN of the TLS certificates that name users; "": none do
	Scope   grid.Scope // of the token of a log-in
	Seconds float64    // it lasts
}

// WaysToLogIn asks how users log in. Everybody may. Reply.Ways is the answer.
type WaysToLogIn struct{}

// LogIn makes a token of the user that an ID token of the identity provider names, whichever client sends it. Its scope
// and life are those of the configuration. Digest and Reply.Token are as of CreateToken. An ID token is accepted once;
// a repeated request with the same digest makes no second token.
type LogIn struct {
	IDToken string
	Nonce   string // that the ID token has; "": none
	Digest  []byte
	Comment string
}

func (*WaysToLogIn) Verb() string { return "ways-to-log-in" }
func (*LogIn) Verb() string       { return "log-in" }

// Reason is why a log-in is refused.
type Reason string

const (
	ReasonNone       Reason = "not-configured" // the cell has no identity provider
	ReasonProvider   Reason = "provider"       // the identity provider cannot be reached, or its answer makes no sense
	ReasonFormat     Reason = "format"         // not an ID token
	ReasonAlgorithm  Reason = "algorithm"      // signed in a way that is not accepted, or not at all
	ReasonSignature  Reason = "signature"      // by no key of the provider
	ReasonIssuer     Reason = "issuer"         // of another provider
	ReasonAudience   Reason = "audience"       // for another client
	ReasonExpired    Reason = "expired"
	ReasonNotYet     Reason = "not-yet"
	ReasonNonce      Reason = "nonce"      // of another log-in
	ReasonClaim      Reason = "claim"      // without the claim that names the user
	ReasonUser       Reason = "user"       // the claim is no user name
	ReasonPrivileged Reason = "privileged" // root, a manager or an operator who is not listed
	ReasonReplayed   Reason = "replayed"   // the ID token was used before
)

// RefuseLogIn returns the refusal of a log-in.
func RefuseLogIn(why Reason, text string) Answer {
	return Deny(StatusLogIn, logInRefused+string(why)+"): "+text)
}

const logInRefused = "denied: log-in refused ("

// LogInRefused returns why an answer refuses a log-in, and the text; ok is false when it does not.
func (a Answer) LogInRefused() (why Reason, text string, ok bool) {
	if a.Status != StatusLogIn {
		return "", "", false
	}
	reason, text, ok := strings.Cut(strings.TrimPrefix(a.Text, logInRefused), "): ")
	return Reason(reason), text, ok
}
