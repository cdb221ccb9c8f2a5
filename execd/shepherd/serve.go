package shepherd

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// checkPlan returns why a plan cannot be executed as it says, before anything is written or forked.
func checkPlan(p *plan.Plan, uid uint32) error {
	if p.Spool == "" || p.Spool[0] != '/' {
		return fmt.Errorf("%s: no spool directory", p.Attempt)
	}
	for _, group := range [...]string{p.Cgroup.Path, p.Cgroup.Job} {
		if group != "" && group[0] != '/' {
			return fmt.Errorf("%s: control group %q is no absolute path", p.Attempt, group)
		}
	}
	jobs := 0
	for _, s := range p.Steps {
		if s.Name < plan.Prolog || s.Name > plan.Epilog || len(s.Argv) == 0 {
			return fmt.Errorf("%s: step %q has no program", p.Attempt, s.Name)
		}
		if s.Name == plan.Job {
			jobs++
		}
		if as := s.As; as != nil && uid != 0 && as.UID != uid {
			return fmt.Errorf("%s: cannot run %s as uid %d: the shepherd runs as uid %d, not as root", p.Attempt,
				s.Name, as.UID, uid)
		}
	}
	if jobs != 1 {
		return fmt.Errorf("%s: %d job steps instead of one", p.Attempt, jobs)
	}
	if uid != 0 && p.Owner.UID != uid {
		return fmt.Errorf("%s: cannot run as uid %d: the shepherd runs as uid %d, not as root", p.Attempt, p.Owner.UID, uid)
	}
	return nil
}

func (k *shepherd) acceptClients(l net.Listener) {
	said := ""
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			if text := err.Error(); text != said {
				k.logf("accept, trying again: %v", err)
				said = text
			}
			time.Sleep(time.Second) // out of descriptors
			continue
		}
		said = ""
		if !k.trusts(c) {
			c.Close()
			continue
		}
		go k.serveClient(c)
	}
}

// trusts reports whether a uid may connect: root and the shepherd's own user, since a client can run programs as any
// job owner.
func (k *shepherd) trusts(c net.Conn) bool {
	peer, err := credentialsOf(c.(*net.UnixConn))
	return err == nil && (peer.Uid == 0 || peer.Uid == k.uid)
}

// clientConn is the connection of one execd.
type clientConn struct {
	out *messageWriter[reply]
	pid int // 0: unknown
}

func (k *shepherd) serveClient(c net.Conn) {
	peer := &clientConn{newMessageWriter(c, replyFields), peerPid(c)}
	k.mu.Lock()
	if ended := k.listStatuses(func(a *attempt) bool { return a.now.State == plan.Ended }); len(ended) > 0 {
		peer.out.send(reply{Statuses: ended})
	}
	k.conns[peer] = struct{}{}
	k.mu.Unlock()

	in := newMessageReader(c, requestFields)
	for {
		r, err := in.readNext()
		if err != nil {
			break
		}
		k.handleRequest(peer, &r)
	}
	k.mu.Lock()
	delete(k.conns, peer)
	k.mu.Unlock()
	peer.out.close()
}

// signals are the requests that verbSignal may make.
var signals = []report.SignalKind{report.Suspend, report.Resume, report.Terminate, report.Migrate}

func (k *shepherd) handleRequest(peer *clientConn, r *request) {
	answer := reply{ID: r.ID}
	switch r.Verb {
	case verbStart:
		k.startAttempts(peer, r)
		return // answers when journaled
	case verbSignal:
		if !slices.Contains(signals, r.Signal) {
			answer.Error = fmt.Sprintf("shepherd: unknown signal %d", r.Signal)
			break
		}
		answer.Gone = k.signalAttempts(r.Signal, r.Attempts)
	case verbList:
		k.mu.Lock()
		answer.Statuses = k.listStatuses(func(*attempt) bool { return true })
		k.mu.Unlock()
	case verbUsage:
		answer.Used = k.usageOf(r.Attempts)
	case verbChange:
		go func() { // other requests are answered meanwhile
			answer.Changed = k.changeLimits(r.Changes)
			peer.out.send(answer)
		}()
		return
	case verbAdopt:
		joined, err := k.adoptProcess(r.UID, r.Pid, peer.pid)
		if answer.Joined = joined; err != nil {
			answer.Error = err.Error()
		}
	case verbForget:
		k.journal.add(false, func(err error) {
			if err != nil {
				answer.Error = err.Error()
			}
			peer.out.send(answer)
		}, journalRecord{Forget: k.forgetAttempts(r.Attempts)})
		return
	case verbShutdown:
		go func() { // other requests are answered meanwhile
			if err := k.stopAttempts(r.Force); err != nil {
				answer.Error = err.Error()
			}
			peer.out.send(answer)
			if answer.Error == "" {
				k.quitOnce()
			}
		}()
		return
	default:
		answer.Error = fmt.Sprintf("shepherd: unknown request %d", r.Verb)
	}
	peer.out.send(answer)
}

// startAttempts journals the new attempts of a batch, then runs them, then answers; what cannot be journaled is
// refused. Answers about keys already known wait in the same queue, so that no answer is about a record that may yet be
// lost.
func (k *shepherd) startAttempts(peer *clientConn, r *request) {
	answers := make([]plan.Answer, len(r.Plans))
	var fresh []*attempt
	var at []int // of fresh in answers
	var begins []journalRecord
	now := time.Now()
	k.mu.Lock()
	if k.closing {
		k.mu.Unlock()
		// of the call, not of a plan: the next shepherd starts them
		peer.out.send(reply{ID: r.ID, Error: "shepherd: shutting down"})
		return
	}
	for i := range r.Plans {
		p := &r.Plans[i]
		answers[i].Attempt = p.Attempt
		if known := k.attempts[p.Attempt]; known != nil {
			answers[i].State = known.now.State
			continue
		}
		if err := checkPlan(p, k.uid); err != nil {
			answers[i].Failed, answers[i].Text = report.FailedBeforeJob, err.Error()
			continue
		}
		a := k.newAttempt(*p, r.Durable)
		a.begin = &beginRecord{p.Attempt, grid.TimeOf(now), k.boot, p.Spool, p.Cgroup.Path, pathsOf(p), p.Cgroup.Job, a.users}
		k.left = withoutPaths(k.left, a.begin.Remove)
		k.attempts[p.Attempt] = a
		k.running++
		answers[i].State = plan.Starting
		fresh, at = append(fresh, a), append(at, i)
		begins = append(begins, journalRecord{Begin: a.begin})
	}
	k.mu.Unlock()
	k.journal.add(r.Durable, func(err error) {
		if err != nil {
			k.mu.Lock()
			for i, a := range fresh {
				delete(k.attempts, a.key)
				k.running--
				answers[at[i]] = plan.Answer{Attempt: a.key, Failed: report.FailedBeforeJob, Text: fmt.Sprintf("journal: %v", err)}
			}
			k.mu.Unlock()
			peer.out.send(reply{ID: r.ID, Answers: answers})
			return
		}
		for _, a := range fresh {
			go a.run()
		}
		peer.out.send(reply{ID: r.ID, Answers: answers})
	}, begins...)
}

// signalAttempts passes a request for a signal to attempts and returns those that have ended or are unknown.
func (k *shepherd) signalAttempts(kind report.SignalKind, keys []report.Attempt) (gone []report.Attempt) {
	for _, key := range keys {
		k.mu.Lock()
		a := k.attempts[key]
		over := a == nil || a.now.State == plan.Ended
		k.mu.Unlock()
		if over {
			gone = append(gone, key)
			continue
		}
		a.requestSignal(signalRequest{action: -action(kind)})
	}
	return gone
}

// listStatuses returns the attempts that f selects in the order of their keys. Called with mu held.
func (k *shepherd) listStatuses(f func(*attempt) bool) []plan.Status {
	var list []plan.Status
	for _, a := range k.attempts {
		if f(a) {
			list = append(list, a.now)
		}
	}
	slices.SortFunc(list, func(x, y plan.Status) int { return x.Attempt.Compare(y.Attempt) })
	return list
}

// usageOf returns what the given attempts have used, all running ones when none is given.
func (k *shepherd) usageOf(keys []report.Attempt) (used []plan.Used) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, key := range keys {
		switch a := k.attempts[key]; {
		case a == nil:
		case a.now.State == plan.Ended:
			used = append(used, plan.Used{Attempt: key, Usage: a.now.End.Usage})
		default:
			used = append(used, plan.Used{Attempt: key, Usage: a.used.totalUsage().toAccounting()})
		}
	}
	if len(keys) > 0 {
		return used
	}
	for key, a := range k.attempts {
		if a.now.State != plan.Ended {
			used = append(used, plan.Used{Attempt: key, Usage: a.used.totalUsage().toAccounting()})
		}
	}
	return used
}

// forgetAttempts removes ended attempts and returns them.
func (k *shepherd) forgetAttempts(keys []report.Attempt) (forgotten []report.Attempt) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, key := range keys {
		if a := k.attempts[key]; a != nil && a.now.State == plan.Ended {
			delete(k.attempts, key)
			forgotten = append(forgotten, key)
		}
	}
	return forgotten
}
