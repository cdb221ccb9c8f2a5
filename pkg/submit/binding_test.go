package submit

import (
	"strings"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/jsv"
)

// TestVerifiedBinding gives jobs a -binding and has a verifier change its
// parameters.
func TestVerifiedBinding(t *testing.T) {
	for _, c := range []struct{ given, changes, want string }{
		{"", "binding_strategy=linear binding_amount=2", "set linear:2"},
		{"", "binding_amount=2 binding_type=env binding_strategy=linear_automatic", "env linear:2"},
		{"", "binding_core=1 binding_socket=0 binding_strategy=linear binding_amount=2", "set linear:2:0,1"},
		{"", "binding_strategy=striding binding_amount=2 binding_step=4", "set striding:2:4"},
		{"", "binding_exp_n=2 binding_exp_core1=1 binding_exp_socket1=0 binding_strategy=explicit", "set explicit:0,0:0,1"},
		{"", "binding_amount=2", "NONE"},
		{"linear:2", "binding_amount=3", "set linear:3"},
		{"linear:2", "binding_type=pe", "pe linear:2"},
		{"linear:2", "binding_strategy=", "NONE"},
		{"linear:2", "binding_strategy=striding_automatic binding_step=2", "set striding:2:2"},
		{"linear:2:1,1", "binding_socket=0", "set linear:2:0,1"},
		{"linear:2:1,1", "binding_socket= binding_core=", "set linear:2"},
		{"linear:2:1,1", "binding_strategy=explicit binding_exp_n=1 binding_exp_core0=3", "set explicit:0,3"},
		{"striding:2:4", "binding_strategy=linear", "set linear:2"},
		{"explicit:0,1:2,3", "binding_exp_n=1", "set explicit:0,1"},
		{"explicit:0,1:2,3", "binding_exp_core1=7", "set explicit:0,1:2,7"},
		{"explicit:0,1:2,3", "binding_strategy=linear binding_amount=1", "set linear:1"},

		{"linear:2", "binding_strategy=foo", `JSV tries to set "binding_strategy" to "foo"`},
		{"linear:2", "binding_type=foo", `JSV tries to set "binding_type" to "foo"`},
		{"linear:2", "binding_amount=x", `JSV tries to set "binding_amount" to "x"`},
		{"linear:2", "binding_exp_core0=1", `JSV tries to set "binding_exp_core0" to "1"`},
		{"explicit:0,1", "binding_exp_corex=1", `JSV tries to set unknown parameter "binding_exp_corex"`},
		{"explicit:0,1", "binding_exp_core999999=1", `JSV tries to set unknown parameter "binding_exp_core999999"`},
		{"explicit:0,1", "binding_exp_n=999999", `JSV tries to set "binding_exp_n" to "999999"`},

		// What does not go together is qmaster's to say.
		// Units that the scheduler decides about.
		{"", "bamount=2 bunit=S", "bamount=2,binstance=set,bstrategy=pack,btype=slot,bunit=S"},
		{"", "binstance=pe bfilter=SCcSCC btype=host bunit=T bamount=1",
			"bamount=1,bfilter=SCcSCC,binstance=pe,bstrategy=pack,btype=host,bunit=T"},
		{"", "bunit=S", "a binding by units needs an amount (-bamount)"},
		{"linear:2", "bamount=1", "bamount=1,binstance=set,bstrategy=pack,btype=slot,bunit=C"},
		{"units 2 S", "bamount=3", "bamount=3,binstance=set,bstrategy=pack,btype=slot,bunit=S"},
		{"units 2 S", "bamount=0", "NONE"},
		{"units 2 S", "bamount=", "NONE"},
		{"units 2 S SCcSCC", "bfilter=", "bamount=2,binstance=set,bstrategy=pack,btype=slot,bunit=S"},
		{"units 2 S", "binding_strategy=linear binding_amount=4", "set linear:4"},
		{"units 2 S", "bamount=x", `JSV tries to set "bamount" to "x"`},
		{"units 2 S", "bunit=Q", `JSV tries to set "bunit" to "Q"`},
		{"units 2 S", "btype=job", `JSV tries to set "btype" to "job"`},
		{"units 2 S", "bfilter=SCZ", `JSV tries to set "bfilter" to "SCZ"`},
		{"units 2 S", "binstance=foo", `JSV tries to set "binstance" to "foo"`},
		{"linear:2", "binding_amount=0", "binding parameter not consistent with strategy (BN_parameter is n)"},
		{"linear:2", "binding_step=2",
			"binding parameter not consistent with strategy (BN_parameter_striding_step_size is > 0)"},
		{"explicit:0,1", "binding_exp_n=2 binding_exp_core1=1", "<socket,core> pairs are not unique!"},
	} {
		job := grid.Job{JobRequest: &grid.JobRequest{}, Binary: true, Tasks: grid.Range{First: 1, Last: 1, Step: 1},
			Spec: &grid.JobSpec{Command: "true"}}
		if units, ok := strings.CutPrefix(c.given, "units "); ok {
			for i, value := range strings.Fields(units) {
				if err := takeUnits(&job.Binding, [...]string{"bamount", "bunit", "bfilter"}[i], value); err != nil {
					t.Fatal(err)
				}
			}
		} else if c.given != "" {
			job.Binding, _ = grid.ParseBinding(grid.BindSet, c.given)
		}
		before := job.Binding.String()
		var changes []jsv.Correction
		for _, word := range strings.Fields(c.changes) {
			name, value, _ := strings.Cut(word, "=")
			changes = append(changes, jsv.Correction{Param: jsv.Param{Name: name, Value: value}})
		}
		got := ""
		switch changed, err := Corrected(&job, changes, Client{Now: time.Unix(0, 0)}); {
		case err != nil:
			got = err.Error()
		case changed.Binding != nil && changed.Binding.Validate() != "":
			got = changed.Binding.Validate()
		default:
			got = changed.Binding.String()
		}
		if got != c.want {
			t.Errorf("-binding %s, then %s: %s, want %s", c.given, c.changes, got, c.want)
		}
		if job.Binding.String() != before {
			t.Errorf("-binding %s, then %s: the job itself has been changed", c.given, c.changes)
		}
	}
}
