package document

import (
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// Results is what a request of qsub, qdel, qmod, qconf and the like did.
type Results struct {
	Results  Rows[Result]       `json:"results" jsonschema:"what was done, in the order of qmaster's answers"`
	Warnings []string           `json:"warnings,omitzero"`
	Errors   Rows[RequestError] `json:"errors" jsonschema:"what was refused"`
}

// SchemaName returns results.
func (Results) SchemaName() string { return "results" }

// Subject is what a result or an error is about. Without members it is the request.
type Subject struct {
	Job   uint32 `json:"job_number,omitzero"`
	Tasks []Span `json:"tasks,omitzero" jsonschema:"tasks of an array; absent: the job"`
	AR    uint32 `json:"ar_id,omitzero" jsonschema:"advance reservation"`
	Queue string `json:"queue_name,omitzero" jsonschema:"queue@host"`
	Kind  string `json:"kind,omitzero" jsonschema:"of a configuration object, as in the names of schemas of qconf: cqueue, exechost and so on; or token; job or ar without a number"`
	Name  string `json:"name,omitzero" jsonschema:"of a configuration object; the number of a token; as the request names a job or reservation"`
}

// Result is what was done.
type Result struct {
	Subject
	Did  string `json:"result,omitzero" jsonschema:"submitted, granted, added, deleted, deletion_registered, modified, suspended, unsuspended, rescheduled, cleared, enabled, disabled, purged or unchanged; of quill stopped, joined or moved; absent: text is the answer"`
	Text string `json:"text"`
}

// RequestError is what was refused.
type RequestError struct {
	Subject
	Code string `json:"code" jsonschema:"denied, unknown (no such object), exists, in_use, invalid, stale, no_daemon, shutdown, not_yet, not_owner, limit, token (expired or revoked), scope (of the token) or failed"`
	Text string `json:"text"`
	Hint string `json:"hint,omitzero" jsonschema:"what may be done about it"`
}

// OnObject returns the subject of what is about a configuration object.
func OnObject(kind grid.Kind, name string) Subject {
	return Subject{Kind: strings.ToLower(kind.String()), Name: name}
}

// subjectOf returns what an answer is about.
func subjectOf(about gdi.Subject) Subject {
	s := Subject{Job: about.Job, AR: about.AR, Queue: about.Queue}
	if about.Kind != 0 {
		s = OnObject(about.Kind, about.Name)
	}
	if len(about.Tasks) > 0 {
		s.Tasks = spans(about.Tasks)
	}
	return s
}

// ErrorOf returns what a negative answer refuses.
func ErrorOf(a gdi.Answer) RequestError {
	about := gdi.Subject{}
	if a.About != nil {
		about = *a.About
	}
	return RequestError{subjectOf(about), a.Status.Code(), a.Text, a.Hint}
}

// ResultsOf returns the document of replies, with failed after what they refuse.
func ResultsOf(replies []gdi.Reply, failed ...RequestError) Results {
	d := Results{}
	var results []Result
	var refused []RequestError
	for _, reply := range replies {
		for _, a := range reply.Answers {
			about := gdi.Subject{}
			switch {
			case a.About != nil:
				about = *a.About
			case reply.Job != 0 && a.Quality == gdi.Info:
				about = gdi.Subject{Job: reply.Job, Did: gdi.DidSubmit}
				if reply.Array {
					about.Tasks = grid.Ranges{reply.Tasks}
				}
			}
			switch {
			case a.Status != gdi.StatusOK:
				refused = append(refused, ErrorOf(a))
			case a.Quality == gdi.Warning:
				d.Warnings = append(d.Warnings, a.Text)
			default:
				results = append(results, Result{subjectOf(about), string(about.Did), a.Text})
			}
		}
	}
	d.Results = RowsOf(results)
	d.Errors = RowsOf(append(refused, failed...))
	return d
}
