package core

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/gdi"
)

// answersMost is about how many bytes of answers one request gets: some 10,000 lines. Those after them are summed up,
// so that a reply fits into a message however many jobs a request is about, and may be stored.
const answersMost = 1 << 20

// answers are those of one request.
type answers struct {
	given []gdi.Answer
	bytes int
	more  []moreAnswers // by what was said, in the order in which it was said first
}

// moreAnswers are answers that are not given one by one.
type moreAnswers struct {
	first gdi.Answer
	tasks bool
	count int
}

// add takes answers in, or counts them.
func (a *answers) add(list ...gdi.Answer) {
	for _, one := range list {
		size := answerSize(one)
		if len(a.more) == 0 && (len(a.given) == 0 || a.bytes+size <= answersMost) {
			a.given, a.bytes = append(a.given, one), a.bytes+size
			continue
		}
		a.count(one)
	}
}

func (a *answers) count(one gdi.Answer) {
	tasks := one.About != nil && len(one.About.Tasks) > 0
	for i := range a.more {
		if m := &a.more[i]; m.first.Status == one.Status && m.first.Quality == one.Quality && m.did() == didOf(one) &&
			m.tasks == tasks {
			m.count++
			return
		}
	}
	a.more = append(a.more, moreAnswers{one, tasks, 1})
}

// all returns the answers with the sums.
func (a *answers) all() []gdi.Answer {
	out := a.given
	for _, m := range a.more {
		out = append(out, m.summedUp())
	}
	return out
}

// summedUp is the answer in place of the counted ones.
func (m moreAnswers) summedUp() gdi.Answer {
	noun := "job"
	switch {
	case m.tasks:
		noun = "array task list"
	case m.first.About == nil || m.first.About.Job == 0:
		noun = "object"
	}
	if m.count > 1 {
		noun += "s"
	}
	did := "not changed: " + m.first.Text
	switch d := m.did(); {
	case m.first.Status != gdi.StatusOK: // the first says why
	case d == gdi.DidRegister:
		did = "registered for deletion"
	default:
		did = string(d)
	}
	return gdi.Answer{Status: m.first.Status, Quality: m.first.Quality,
		Text: fmt.Sprintf("%d more %s %s", m.count, noun, did)}
}

func (m moreAnswers) did() gdi.Did { return didOf(m.first) }

func didOf(a gdi.Answer) gdi.Did {
	if a.About == nil || a.About.Did == "" {
		return gdi.DidNothing
	}
	return a.About.Did
}

// answerSize is about how many bytes an answer has.
func answerSize(a gdi.Answer) int {
	const each, perRange = 32, 12
	size := each + len(a.Text) + len(a.Field)
	if s := a.About; s != nil {
		size += each + len(s.Queue) + len(s.Name) + perRange*len(s.Tasks)
	}
	return size
}

// bounded returns answers as add takes them: most lists as they are.
func bounded(list []gdi.Answer) []gdi.Answer {
	bytes := 0
	for _, a := range list {
		bytes += answerSize(a)
	}
	if bytes <= answersMost {
		return list
	}
	var a answers
	a.add(list...)
	return a.all()
}
