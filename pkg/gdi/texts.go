package gdi

import (
	"cmp"
	"fmt"

	"github.com/quill-grid/quill/pkg/grid"
)

// texts are the texts of requests. Those that are not named here are one line without control characters: they are shown in listings, logs and mails, sent
// to submission verifiers and hosts, and written to accounting and reporting files.
var texts = func() grid.Texts {
	pointers := []any{&Request{}}
	for _, b := range Bodies() {
		pointers = append(pointers, b)
	}
	for _, s := range grid.Kinds {
		pointers = append(pointers, s.New())
	}
	return grid.NewTexts(map[string]grid.TextRule{
		"JobSpec.Command":       grid.TextFree, // -b y: what a shell reads
		"JobSpec.Args":          grid.TextFree,
		"JobSpec.Env":           grid.TextVariables,
		"JobSpec.Connect":       grid.TextFree, // what only the client and its starter read
		"JobSpec.SubmitCommand": grid.TextFree, // has all others
		"Launch.Args":           grid.TextFree,
		"Launch.Env":            grid.TextVariables,
		"Launch.Connect":        grid.TextFree,
		"Job.Name":              grid.TextFree, // this one and the following are checked by the core, which allows less
		"Job.Account":           grid.TextFree,
		"CreateToken.Comment":   grid.TextFree,
		"Decide.Comment":        grid.TextFree,
		"Propose.Agent":         grid.TextFree,
		"Propose.Reason":        grid.TextFree, // of more than one line
		"Propose.Effect":        grid.TextFree,
	}, pointers...)
}()

// unreadable refuses a request with a text that would not be read as one.
func (r *Request) unreadable() (err error) {
	texts.Each(r, func(field string, rule grid.TextRule, text string) string {
		switch {
		case rule == grid.TextLine && grid.HasControl(text):
			err = cmp.Or(err, fmt.Errorf("%q (%s) has a line end or another control character; use printable characters", text, field))
		case rule == grid.TextVariable:
			err = cmp.Or(err, grid.BadVariable(text))
		}
		return text
	})
	return err
}
