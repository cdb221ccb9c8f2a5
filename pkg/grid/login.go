package grid

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Logins is how users log in: qmaster_params LOGIN_... of sge_conf(5).
type Logins struct {
	Issuer   string // URL of the identity provider; "": there is none
	Client   string // the client id of the cell at the provider
	Audience string // that an ID token has to name
	Claim    string // of the ID token, that names the user
	Users    string // pattern of the claim's value: * stands for the user
	// Privileged are the users who may log in though they are root, managers or operators.
	Privileged Names
	Seconds    float64 // the tokens of log-ins last
	Scope      Scope   // of the tokens of log-ins
	// Cert is FIELD:PATTERN of the TLS certificates that name users: a field cn, email, dns or uri, and a pattern of its
	// value; "": their common name does.
	Cert string
}

// LoginLife is how many seconds the token of a log-in lasts unless LOGIN_TIME says otherwise.
const LoginLife = 12 * 60 * 60

// certFields are the fields of a certificate that may name a user.
var certFields = []string{"cn", "email", "dns", "uri"}

// CertUser returns the user that a certificate names by the rule FIELD:PATTERN; false: none, or several. values returns
// the values of a field.
func CertUser(rule string, values func(field string) []string) (user string, ok bool) {
	field, pattern, _ := strings.Cut(rule, ":")
	for _, value := range values(field) {
		name, named := MappedUser(pattern, value)
		if named && user != "" && name != user {
			return "", false
		}
		if named {
			user = name
		}
	}
	return user, user != ""
}

// Logins reads the words LOGIN_... of qmaster_params; bad says what is wrong with one of them ("" when nothing is).
func (c *Conf) Logins() (l Logins, bad string) {
	l = Logins{Claim: "preferred_username", Users: "*", Seconds: LoginLife, Scope: ScopeSubmit}
	for name, text := range map[string]*string{"LOGIN_ISSUER": &l.Issuer, "LOGIN_CLIENT": &l.Client,
		"LOGIN_AUDIENCE": &l.Audience, "LOGIN_CLAIM": &l.Claim, "LOGIN_USERS": &l.Users} {
		if given, set := c.Param("qmaster_params", name); set {
			*text = given
		}
	}
	if l.Audience == "" {
		l.Audience = l.Client
	}
	wrong := func(name, text, why string) (Logins, string) {
		return Logins{}, fmt.Sprintf("%s=%s in qmaster_params: %s", name, text, why)
	}
	switch {
	case l.Issuer != "" && !ProviderURL(l.Issuer):
		return wrong("LOGIN_ISSUER", l.Issuer, "not an https URL (http is accepted for loopback addresses only)")
	case l.Issuer != "" && l.Client == "":
		return wrong("LOGIN_ISSUER", l.Issuer, "LOGIN_CLIENT is missing")
	case l.Claim == "":
		return wrong("LOGIN_CLAIM", "", "the name of a claim is missing")
	case strings.Count(l.Users, "*") != 1:
		return wrong("LOGIN_USERS", l.Users, "a pattern has one *, which stands for the user")
	}
	if text, set := c.Param("qmaster_params", "LOGIN_PRIVILEGED"); set {
		l.Privileged = strings.Split(text, ":")
		if slices.ContainsFunc(l.Privileged, func(n string) bool { return !UserName(n) }) {
			return wrong("LOGIN_PRIVILEGED", text, "not user names, separated by colons")
		}
	}
	if text, set := c.Param("qmaster_params", "LOGIN_TIME"); set {
		var ok bool
		if l.Seconds, ok = ParseTimeSpan(text); !ok || l.Seconds < TokenLifeLeast || l.Seconds > TokenLifeMost {
			return wrong("LOGIN_TIME", text, fmt.Sprintf("a token lasts at least %d seconds and at most %d days", TokenLifeLeast,
				TokenLifeMost/(24*60*60)))
		}
	}
	if text, set := c.Param("qmaster_params", "LOGIN_SCOPE"); set {
		var ok bool
		if l.Scope, ok = ParseScope(text); !ok {
			return wrong("LOGIN_SCOPE", text, "it is "+ScopeNames)
		}
	}
	if text, set := c.Param("qmaster_params", "LOGIN_CERT"); set {
		field, pattern, _ := strings.Cut(text, ":")
		if l.Cert = text; !slices.Contains(certFields, field) || strings.Count(pattern, "*") != 1 {
			return wrong("LOGIN_CERT", text,
				"it is cn:PATTERN, email:PATTERN, dns:PATTERN or uri:PATTERN, and a pattern has one *, which stands for the user")
		}
	}
	return l, ""
}

// Admits reports whether a user may log in: root, managers and operators have to be listed.
func (l *Logins) Admits(user string, operator bool) bool {
	return user != "root" && !operator || slices.Contains(l.Privileged, user)
}

// ProviderURL reports whether the identity provider may be asked at a URL: over TLS, or at a loopback address.
func ProviderURL(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && IsLoopback(u.Hostname())
}

// IsLoopback reports whether a host, a name or an address, is reached from itself only.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// MappedUser returns the user that a value names by a pattern with one *; false: none.
func MappedUser(pattern, value string) (user string, ok bool) {
	before, after, _ := strings.Cut(pattern, "*")
	user, begins := strings.CutPrefix(value, before)
	user, ends := strings.CutSuffix(user, after)
	return user, begins && ends && UserName(user)
}

// userNameMax is how long a user name may be.
const userNameMax = 32

// UserName reports whether a text is a plain user name: letters of ASCII, digits, _ . and -, a letter or _ first.
func UserName(text string) bool {
	if text == "" || len(text) > userNameMax {
		return false
	}
	for i := range len(text) {
		c := text[i]
		first := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !first && (i == 0 || !(c >= '0' && c <= '9' || c == '.' || c == '-')) {
			return false
		}
	}
	return true
}
