package qmaster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/openid"
	"github.com/quill-grid/quill/qmaster/core"
)

// logIns has ID tokens verified before the core decides on log-ins. Only the client that logs in waits for it.
type logIns struct {
	q    *QMaster
	free *fair.Places // ID tokens that are verified: each may wait for the identity provider
	ctx  context.Context
	stop context.CancelFunc

	providers openid.Cache

	tasks sync.WaitGroup
}

func newLogIns(q *QMaster) *logIns {
	l := &logIns{q: q, free: fair.NewPlaces("log-ins that are verified", fair.Limits{Total: 8, User: 2, Waiting: 32})}
	l.ctx, l.stop = context.WithCancel(q.ctx)
	return l
}

// enqueue has a log-in verified and passes it to the core; false: too many wait.
func (l *logIns) enqueue(r *bus.Request, req gdi.Request, b *gdi.LogIn) bool {
	ways := l.q.access.ways()
	if ways.Issuer == "" {
		l.submit(r, req, b, nil)
		return true
	}
	provider := l.providers.Provider(ways.Issuer, ways.Client, ways.Audience)
	_, err := l.free.Join(r.FairUser(), 1, func(leave func()) {
		l.tasks.Go(func() {
			defer leave()
			l.verify(provider, r, req, b, ways.Claim)
		})
	})
	return err == nil
}

// verify passes a log-in to the core if its ID token is valid, and refuses it otherwise.
func (l *logIns) verify(p *openid.Provider, r *bus.Request, req gdi.Request, b *gdi.LogIn, claim string) {
	defer l.q.caught(r)
	if r.ClientGone() || l.ctx.Err() != nil {
		return // asked again, perhaps of the next qmaster
	}
	claims, err := p.Verify(l.ctx, b.IDToken, b.Nonce, claim)
	if l.ctx.Err() != nil {
		return
	}
	if why := (*openid.Error)(nil); errors.As(err, &why) {
		l.q.log.Warn("log-in refused", "user", req.User, "host", req.Host, "reason", why.Reason, "error", why)
		a := gdi.RefuseLogIn(why.Reason, why.Error())
		l.q.refuse(r, b.Verb(), a.Status, a.Text)
		return
	}
	id := sha256.Sum256([]byte(b.IDToken))
	l.submit(r, req, b, &core.Proof{
		Issuer: p.Issuer, Client: p.Client, Subject: claims.Subject, Name: claims.Name,
		ID: hex.EncodeToString(id[:]), Expires: grid.TimeOf(claims.Expires),
	})
}

// submit passes a log-in to the core, without its ID token.
func (l *logIns) submit(r *bus.Request, req gdi.Request, b *gdi.LogIn, proof *core.Proof) {
	req.Body = &gdi.LogIn{Digest: b.Digest, Comment: b.Comment}
	l.q.owner.submit(input{asker: r, about: b.Verb(), make: func(ref uint64) core.Input {
		return core.UserRequest{Ref: ref, Request: req, Proof: proof}
	}})
}

// close ends the verifications. Clients that wait for them get no answer and repeat the request.
func (l *logIns) close() {
	l.stop()
	l.tasks.Wait()
}
