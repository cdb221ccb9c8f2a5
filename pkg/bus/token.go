package bus

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
)

// A token is a credential that a client presents in place of its process or its key, over
// the socket and over the network: the text quill_NUMBER_SECRET. Whose it is, and whether it
// is valid, is known to the owner of the log, who has the number and a digest of the secret.

// TokenOwner returns the user whose token it is and the digest of its secret. It fails
// with ErrToken when the token is not valid, and with ErrBusy when that is not known yet.
type TokenOwner func(number uint32) (user string, digest []byte, err error)

const (
	tokenPrefix = "quill_"
	secretBytes = 32
	tokenMax    = 256 // bytes of a text
)

// NewSecret returns the secret of a new token.
func NewSecret() string {
	var b [secretBytes]byte
	rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Digest returns what the owner of the log stores of a secret.
func Digest(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// TokenText returns the token of that number and secret.
func TokenText(number uint32, secret string) string {
	return tokenPrefix + strconv.FormatUint(uint64(number), 10) + "_" + secret
}

// ParseToken undoes TokenText; false: the text is no token.
func ParseToken(text string) (number uint32, secret string, ok bool) {
	rest, ok := strings.CutPrefix(text, tokenPrefix)
	if !ok || len(text) > tokenMax {
		return 0, "", false
	}
	digits, secret, ok := strings.Cut(rest, "_")
	if !ok || secret == "" {
		return 0, "", false
	}
	number, ok = parseTokenNumber(digits)
	return number, secret, ok
}

// parseTokenNumber reads a number as TokenText and Word write it.
func parseTokenNumber(digits string) (uint32, bool) {
	n, err := strconv.ParseUint(digits, 10, 32)
	return uint32(n), err == nil && digits[0] >= '1' && digits[0] <= '9'
}
