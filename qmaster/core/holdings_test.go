package core

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// budgetCell is a cell whose users may have so many bytes.
func budgetCell(t *testing.T, user, all int64) (h *harness, ask func(user string, b gdi.Body) gdi.Reply) {
	h = &harness{t: t, now: 1_700_000_000_000}
	h.cell(&datadriven.TestData{CmdArgs: []datadriven.CmdArg{{Key: "hosts", Vals: []string{"h1"}}}})
	h.core.Budget(user, all)
	return h, func(user string, b gdi.Body) gdi.Reply {
		h.ref++
		h.now = h.now.Add(1)
		r := h.core.Step(h.now,
			UserRequest{Ref: h.ref, Request: gdi.Request{ID: fmt.Sprint("r", h.ref), User: user, Host: "m",
				Command: "q", Body: b}})
		h.keep(r)
		return *r.Answers[0].Reply
	}
}

// TestBudget: no request makes a user's objects grow above the budget, whichever it is; another user has room as long
// as there is any; what makes them smaller is done; and what was counted is what the state says.
func TestBudget(t *testing.T) {
	const most, all = 1 << 20, 3 << 19
	h, ask := budgetCell(t, most, all)
	big := func(n int) string { return strings.Repeat(string(rune('a'+n%26)), 90_000) }
	job := func(n int) *grid.Job {
		return &grid.Job{Name: "x", Array: true, Tasks: grid.Range{First: 1, Last: 1000, Step: 1},
			JobRequest: &grid.JobRequest{}, Spec: &grid.JobSpec{Context: grid.Values{{Name: "A", Text: big(n)}}}}
	}
	requests := map[string]func(n int) gdi.Body{
		"submit": func(n int) gdi.Body { return &gdi.Submit{Job: job(n)} },
		"alter": func(n int) gdi.Body {
			return &gdi.Alter{Jobs: gdi.Jobs{Users: grid.Names{"*"}}, Set: []string{"ac"},
				Job: &grid.Job{Spec: &grid.JobSpec{Context: grid.Values{{Name: fmt.Sprint("B", n), Text: big(n)[:60_000]}}}}}
		},
		"resubmit": func(n int) gdi.Body { return &gdi.Resubmit{Job: 1 + uint32(n)%10} },
		"hold": func(n int) gdi.Body {
			var odd grid.Ranges
			for i := range uint32(300) {
				odd = append(odd, grid.Range{First: 3*i + 1 + uint32(n)%2, Last: 3*i + 1 + uint32(n)%2, Step: 1})
			}
			return &gdi.Alter{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: 1 + uint32(n)%10, Tasks: odd}}}, HoldAdd: "u"}
		},
		"delete-tasks": func(n int) gdi.Body {
			return &gdi.DeleteJobs{Jobs: gdi.Jobs{Refs: []gdi.JobRef{
				{ID: 1 + uint32(n)%10, Tasks: grid.Ranges{{First: 2 + uint32(n)%900, Last: 2 + uint32(n)%900, Step: 1}}}}}}
		},
		"reserve": func(n int) gdi.Body {
			return &gdi.Reserve{AR: &grid.AR{Duration: 100, ACL: grid.Names{big(n)[:15_000]}}}
		},
		"propose": func(n int) gdi.Body {
			return &gdi.Propose{Changes: [][]byte{codec.AppendBody(nil, &gdi.Submit{Job: &grid.Job{Name: "p"}})}}
		},
		"create-token": func(n int) gdi.Body {
			return &gdi.CreateToken{Scope: grid.ScopeRead,
				Digest: []byte(big(n)[:grid.TokenDigest-1] + string(rune(n)))[:grid.TokenDigest]}
		},
		"delete": func(n int) gdi.Body {
			return &gdi.DeleteJobs{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: 1 + uint32(n)%40}}}}
		},
	}
	var names []string
	for name := range requests { // order: shuffled below
		names = append(names, name)
	}
	random := rand.New(rand.NewSource(1))
	refused := map[string]bool{}
	for n := range 600 {
		name, user := names[random.Intn(len(names))], []string{"root", "alice", "bob"}[n%3]
		reply := ask(user, requests[name](random.Intn(1000)))
		for _, a := range reply.Answers {
			if strings.Contains(a.Text, "of qmaster's memory") {
				refused[name] = true
			}
		}
		for _, u := range []string{"root", "alice", "bob"} {
			if own, total := h.core.Held(u); own > most || total > all {
				t.Fatalf("after %s of %s: %s holds %d bytes, all %d", name, user, u, own, total)
			}
		}
	}
	own, total := h.core.Held("alice")
	h.core.Budget(most, all)
	if again, sum := h.core.Held("alice"); again != own || sum != total {
		t.Errorf("alice holds %d of %d bytes, the state says %d of %d", own, total, again, sum)
	}
	for _, name := range []string{"submit", "alter", "resubmit"} {
		if !refused[name] {
			t.Errorf("no %s was refused: %v", name, refused)
		}
	}
	ask("root", &gdi.DeleteJobs{Jobs: gdi.Jobs{Users: grid.Names{"*"}}})
	if reply := ask("bob", requests["submit"](1)); !reply.OK() {
		t.Errorf("after all was deleted: %v", reply.Answers)
	}
}

// TestBudgetCountsOnce: jobs that share a large environment count it once, as it is in memory.
func TestBudgetCountsOnce(t *testing.T) {
	_, ask := budgetCell(t, 1<<20, 1<<20)
	env := grid.Values{{Name: "MODULES", Text: strings.Repeat("m", 100_000)}}
	for range 500 {
		if reply := ask("alice", &gdi.Submit{Job: &grid.Job{Name: "x", Spec: &grid.JobSpec{Env: env}}}); !reply.OK() {
			t.Fatal(reply.Answers)
		}
	}
}
