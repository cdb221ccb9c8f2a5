package document

import (
	"time"

	"github.com/quill-grid/quill/pkg/grid"
)

// Tokens is quill token list.
type Tokens struct {
	Tokens Rows[Token] `json:"tokens" jsonschema:"by number"`
}

// SchemaName returns quill-token-list.
func (Tokens) SchemaName() string { return "quill-token-list" }

// Token is a credential of a user for programs, without its secret.
type Token struct {
	ID      uint32    `json:"id"`
	Owner   string    `json:"owner"`
	Scope   string    `json:"scope" jsonschema:"read, propose, submit or operate"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
	Comment string    `json:"comment,omitzero"`
}

// TokensOf returns the document of a list.
func TokensOf(list []*grid.Token) Tokens {
	return Tokens{rowsOf(list, func(t *grid.Token) Token {
		return Token{t.ID, t.Owner, t.Scope.String(), timeOf(t.Created), timeOf(t.Expires), t.Comment}
	})}
}

// CreatedToken is quill token create.
type CreatedToken struct {
	ID    uint32 `json:"id"`
	Token string `json:"token" jsonschema:"the token itself, which is not shown again"`
	Scope string `json:"scope" jsonschema:"read, propose, submit or operate"`
}

// SchemaName returns quill-token-create.
func (CreatedToken) SchemaName() string { return "quill-token-create" }
