package validate

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// NewToken returns the token of a user that a request wants; the text is not empty when it is
// refused.
func NewToken(c *cell.Cell, user string, b *gdi.CreateToken) (*grid.Token, string) {
	life := b.Seconds
	if life == 0 {
		life = grid.TokenLife
	}
	switch {
	case !b.Scope.Known():
		return nil, "a token needs a scope: " + grid.ScopeNames
	case math.IsNaN(life) || life < grid.TokenLifeLeast || life > grid.TokenLifeMost:
		return nil, fmt.Sprintf("a token lasts at least %v and at most %d days", time.Second*grid.TokenLifeLeast,
			grid.TokenLifeMost/(24*60*60))
	case len(b.Digest) != grid.TokenDigest:
		return nil, fmt.Sprintf("the digest of a token's secret has %d bytes", grid.TokenDigest)
	case len(b.Comment) > grid.TokenCommentMax || strings.ContainsAny(b.Comment, "\n\t") ||
		grid.Printable(b.Comment) != b.Comment:
		return nil, fmt.Sprintf("the comment of a token has at most %d bytes, all printable", grid.TokenCommentMax)
	}
	return &grid.Token{
		ID: uint32(c.State.Counter(grid.TokenSeqNum)) + 1, Owner: user, Scope: b.Scope,
		Created: c.Now, Expires: c.Now.Add(life), Comment: b.Comment, Digest: b.Digest,
	}, ""
}
