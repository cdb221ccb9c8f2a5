package gdi

import (
	"cmp"
	"fmt"

	"github.com/quill-grid/quill/pkg/grid"
)

// texts are the texts of requests. Those that are not named here are one line without control characters: they are
// shown in listings, logs and mails, sent to submission verifiers and hosts, and written to accounting and reporting
// files.
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

// options are those of qsub and qalter that set a field of a job.
var options = map[string]string{
	"Job.Project":                    "P",
	"JobRequest.Hard":                "l",
	"JobRequest.Soft":                "soft -l",
	"JobRequest.MasterHard":          "scope master -l",
	"JobRequest.SlaveHard":           "scope slave -l",
	"JobRequest.HardQueues":          "q",
	"JobRequest.SoftQueues":          "soft -q",
	"JobRequest.MasterQueues":        "masterq",
	"JobRequest.SlaveQueues":         "scope slave -q",
	"JobRequest.PE":                  "pe",
	"JobRequest.Ckpt":                "ckpt",
	"JobRequest.CkptWhen":            "c",
	"JobRequest.PredecessorReq":      "hold_jid",
	"JobRequest.ArrayPredecessorReq": "hold_jid_ad",
	"JobSpec.Cwd":                    "wd",
	"JobSpec.Context":                "ac",
	"JobSpec.Stdout":                 "o",
	"JobSpec.Stderr":                 "e",
	"JobSpec.Stdin":                  "i",
	"JobSpec.Shell":                  "S",
	"JobSpec.MailOptions":            "m",
	"JobSpec.MailTo":                 "M",
	"JobSpec.Verify":                 "w",
	"JobSpec.CommandPrefix":          "C",
}

// checkLines refuses a request with a text that would not be read as one.
func (r *Request) checkLines() (err error) {
	texts.Each(r, func(field string, rule grid.TextRule, text string) string {
		switch {
		case rule == grid.TextLine && grid.HasControl(text):
			if option := options[field]; option != "" {
				err = cmp.Or(
					err, fmt.Errorf("-%s %q has a line end or another control character; use printable characters", option, text))
				break
			}
			err = cmp.Or(
				err, fmt.Errorf("%q (%s) has a line end or another control character; use printable characters", text, field))
		case rule == grid.TextVariable:
			err = cmp.Or(err, grid.BadVariable(text))
		}
		return text
	})
	return err
}
