package gpu

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/state"
)

// apply makes known to the cell what the host offers: first the attributes that it does not have, then the host's value,
// which qmaster checks by them.
func apply(c *cli.Context, env opt.Env, o offer) error {
	master, err := env.Connect(c.Context)
	if err != nil {
		return err
	}
	defer master.Close()
	st, err := client.Fetch(c.Context, master, gdi.Get{Kinds: []grid.Kind{grid.KindCentry, grid.KindExecHost}})
	if err != nil {
		return err
	}
	host, err := hostOf(st, c.String("host"))
	if err != nil {
		return err
	}
	missing, err := o.missing(st)
	if err != nil {
		return err
	}
	changed := false
	do := func(command string, body gdi.Body) error {
		reply, err := master.Do(c.Context, command, body)
		if err != nil {
			return err
		}
		changed = true
		if code := env.PrintErrors(reply.Answers); code != 0 {
			return cli.Exit("", code)
		}
		return nil
	}
	if len(missing) > 0 {
		if err := do("quill-gpu", &gdi.Change{Add: missing}); err != nil {
			return err
		}
	}
	if was, _ := host.ComplexValues.Get(o.attributes[0].Name); was != o.value {
		if err := do("quill-gpu", &gdi.Modify{Objects: []grid.Object{o.withValue(host)}}); err != nil {
			return err
		}
	}
	if !changed {
		fmt.Fprintf(env.Stdout, "host %q offers this already\n", host.Name)
	}
	return nil
}

// hostOf returns an execution host of the cell; without a name the one on which the command runs.
func hostOf(st *state.State, name string) (*grid.ExecHost, error) {
	names := []string{name}
	if name == "" {
		own, err := os.Hostname()
		if err != nil {
			return nil, fmt.Errorf("gpu: %w: name the host with --host", err)
		}
		short, _, _ := strings.Cut(own, ".")
		names = []string{own, short}
	}
	for _, n := range names {
		if h := st.ExecHost(n); h != nil {
			return h, nil
		}
	}
	return nil, fmt.Errorf("gpu: denied: %q is no execution host of the cell: name one of `qconf -sel` with --host", names[0])
}

// missing are the attributes that the complex does not have. It fails when one is there that means something else.
func (o *offer) missing(st *state.State) (add []grid.Object, err error) {
	for i := range o.attributes {
		want := &o.attributes[i]
		switch there := st.Centry(want.Name); {
		case there == nil:
			add = append(add, want)
		case there.Type != want.Type:
			return nil, fmt.Errorf("gpu: denied: attribute %q of the complex has the type %s, not %s", want.Name, there.Type, want.Type)
		}
	}
	return add, nil
}

// withValue returns a host that offers this beside what else it has.
func (o *offer) withValue(host *grid.ExecHost) *grid.ExecHost {
	h := *host
	value := grid.Value{Name: o.attributes[0].Name, Text: o.value}
	h.ComplexValues = slices.Clone(host.ComplexValues)
	if i := slices.IndexFunc(h.ComplexValues, func(v grid.Value) bool { return v.Name == value.Name }); i >= 0 {
		h.ComplexValues[i] = value
	} else {
		h.ComplexValues = append(h.ComplexValues, value)
	}
	return &h
}
