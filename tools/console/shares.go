package console

import (
	"net/http"
	"strings"

	"github.com/quill-grid/quill/pkg/chart"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
)

var sharesPage = page{path: "/shares", name: "shares", menu: "Shares", show: showShares}

// nodesShown bounds the rows of a tree.
const nodesShown = 200

// functionalShown bounds the rows of each kind of the functional policy.
const functionalShown = 100

// sharesPart is who is entitled to what, and what each has.
type sharesPart struct {
	Tree       []shareNode
	Hidden     int
	TreeWeight uint32 // tickets of the share tree
	Functional []functionalKind
	Weight     uint32 // functional tickets
	Running    bool   // only running tasks report tickets, those of their start
	Chart      chart.Chart
	By         string
	Choices    []choice
	Window     string
	Windows    []string
}

// shareNode is a row of the share tree.
type shareNode struct {
	*view.Share
	Name  string
	Depth int
	Bar   bullet
}

// functionalKind is users, projects or departments.
type functionalKind struct {
	Title, Kind string
	Weight      float64
	Rows        []functional
	Rest        listPart
}

type functional struct {
	view.Functional
	Bar  bullet
	Used float64 // its part of the slots in use by those of its kind
}

func showShares(r *request) (any, error) {
	m := r.moment
	conf := m.State.SchedConf()
	s := &sharesPart{TreeWeight: conf.WeightTicketsShare, Weight: conf.WeightTicketsFunctional,
		Running: !conf.ReportPJobTickets, By: r.query.Get("by"), Windows: windowNames}
	for _, v := range view.Shares(m.State, m.Now, true) {
		if len(s.Tree) == r.most(nodesShown) {
			s.Hidden++
			continue
		}
		name := v.Path[strings.LastIndex(v.Path, "/")+1:]
		depth := strings.Count(v.Path, "/")
		if v.Path == "/" {
			name, depth = "all", 0
		}
		s.Tree = append(s.Tree, shareNode{v, name, min(depth, 6), bullet{v.Actual, v.Total, "running"}})
	}
	s.functional(view.Functionals(m.State))
	var minutes int
	var bad, wrong error
	s.Window, minutes, bad = window(r)
	for i := range s.Functional {
		k := &s.Functional[i]
		if k.Rows, k.Rest, wrong = listPartOf(r, "after."+k.Kind, k.Rows, functionalShown); wrong != nil {
			bad = wrong
		}
	}
	s.Choices = []choice{{"", "by owner", s.By == ""}, {"project", "by project", s.By == "project"}}
	if s.By != "" && s.By != "project" {
		bad, s.By = &Problem{Status: http.StatusUnprocessableEntity, Field: "by",
			Text: "Slots are shown by owner, or with by=project by project."}, ""
	}
	all, known, err := ran(r, view.AccountingFilter{}, m.Now-grid.Time(minutes)*60_000,
		func(owner, project string, slots uint32, _ []grid.Grant) (string, uint32) {
			if s.By == "project" {
				if owner = project; owner == "" || owner == "NONE" {
					owner = "no project"
				}
			}
			return owner, slots
		})
	if err != nil {
		return nil, err
	}
	s.Chart = slotsChart("ran", "Slots in use", all, m.Now, known, minutes, float64(m.View.Summary().Slots))
	return s, bad
}

// functional groups the rows of the functional policy.
func (s *sharesPart) functional(rows []view.Functional) {
	kinds := []struct {
		kind        grid.Kind
		title, name string
	}{{grid.KindUser, "Users", "user"}, {grid.KindProject, "Projects", "project"},
		{grid.KindUserset, "Departments", "userset"}}
	for _, k := range kinds {
		one := functionalKind{Title: k.title, Kind: k.name}
		slots := 0
		for _, f := range rows {
			if f.Kind == k.kind {
				slots += f.Slots
			}
		}
		for _, f := range rows {
			if f.Kind == k.kind {
				part := 0.0
				if slots > 0 {
					part = float64(f.Slots) / float64(slots)
				}
				one.Weight = f.Weight
				one.Rows = append(one.Rows, functional{f, bullet{part, f.Part, "running"}, part})
			}
		}
		if len(one.Rows) > 0 {
			s.Functional = append(s.Functional, one)
		}
	}
}
