package gpu

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/gpu"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/state"
)

// apply makes known to the cell what the host offers, in one transaction: the attributes that the complex does not
// have, and the host's value.
func apply(c *cli.Context, env opt.Env, gpus []*gpu.GPU) error {
	master, err := env.Connect(c.Context)
	if err != nil {
		return err
	}
	defer master.Close()
	st, err := client.Fetch(c.Context, master, gdi.Get{Kinds: []grid.Kind{grid.KindCentry, grid.KindExecHost}})
	if err != nil {
		return err
	}
	host, err := hostOf(st, c.String("host"), env.Host)
	if err != nil {
		return err
	}
	p, err := planOf(st, host, c.String("resource"), gpus)
	if err != nil {
		return err
	}
	if !p.empty() {
		reply, err := master.Do(c.Context, "quill-gpu", &p.change)
		if err != nil {
			return err
		}
		if code := env.PrintErrors(reply.Answers); code != 0 {
			return cli.Exit("", code)
		}
	}
	for _, in := range p.dropped {
		fmt.Fprintf(env.Stdout, "removed instance %q (%s) of %q from host %q\n", in.ID, cmp.Or(uuidOf(in), "no uuid"),
			c.String("resource"), host.Name)
	}
	if p.empty() {
		fmt.Fprintf(env.Stdout, "host %q offers this already\n", host.Name)
	}
	return nil
}

// plan is what is to be changed.
type plan struct {
	change  gdi.Change
	dropped complex.Map // instances of the present map whose devices are not offered any more
}

func (p *plan) empty() bool { return len(p.change.Add)+len(p.change.Modify) == 0 }

// planOf compares what the host is to offer with what it offers. It fails where qmaster would refuse the value.
func planOf(st *state.State, host *grid.ExecHost, resource string, gpus []*gpu.GPU) (p plan, err error) {
	x := complex.New(st.Centries())
	at := slices.IndexFunc(host.ComplexValues, func(v grid.Value) bool {
		a := x.Lookup(v.Name)
		return a != nil && a.Name == resource
	})
	var before complex.Map
	if a := x.Lookup(resource); at >= 0 && a.Type == grid.TypeMap {
		if before, err = x.ParseMap(resource, host.ComplexValues[at].Text); err != nil {
			return p, err
		}
	}
	o := offerOf(resource, gpus, before)
	missing, err := o.missing(x)
	if err != nil {
		return p, err
	}
	after, err := complex.New(slices.Concat(st.Centries(), missing)).ParseMap(resource, o.value)
	if err != nil {
		return p, err
	}
	for _, m := range missing {
		p.change.Add = append(p.change.Add, m)
	}
	if slices.EqualFunc(before, after, equal) {
		return p, nil
	}
	p.change.Modify = []grid.Object{withValue(host, at, grid.Value{Name: resource, Text: o.value})}
	for _, in := range before {
		same := func(n complex.Instance) bool { return n.ID == in.ID && (uuidOf(in) == "" || uuidOf(n) == uuidOf(in)) }
		if !slices.ContainsFunc(after, same) {
			p.dropped = append(p.dropped, in)
		}
	}
	return p, nil
}

// withValue returns a host that has the value in place of the one at an index of its complex_values; -1: beside them.
func withValue(host *grid.ExecHost, at int, value grid.Value) *grid.ExecHost {
	h := *host
	h.ComplexValues = slices.Clone(host.ComplexValues)
	if at < 0 {
		h.ComplexValues = append(h.ComplexValues, value)
	} else {
		h.ComplexValues[at] = value
	}
	return &h
}

// equal reports whether two instances are the same; the order of their characteristics has no meaning.
func equal(a, b complex.Instance) bool {
	one, two := slices.Clone(a.Traits), slices.Clone(b.Traits)
	grid.SortValues(one)
	grid.SortValues(two)
	return a.ID == b.ID && a.Amount == b.Amount && slices.Equal(one, two)
}

// hostOf returns an execution host of the cell; without a name the one on which the command runs.
func hostOf(st *state.State, name, own string) (*grid.ExecHost, error) {
	names := []string{name}
	if name == "" {
		short, _, _ := strings.Cut(own, ".")
		names = []string{own, short}
	}
	for _, n := range names {
		if h := st.ExecHost(n); h != nil && n != grid.GlobalHost {
			return h, nil
		}
	}
	return nil,
		fmt.Errorf("gpu: denied: %q is no execution host of the cell: name one of `qconf -sel` with --host", names[0])
}

// missing are the attributes that the complex does not have. It fails when one is there that means something else.
func (o *offer) missing(x *complex.Attributes) (add []*grid.Centry, err error) {
	for i := range o.attributes {
		want := &o.attributes[i]
		switch there := x.Lookup(want.Name); {
		case there == nil:
			add = append(add, want)
		case there.Name != want.Name:
			return nil, fmt.Errorf("gpu: denied: %q is the shortcut of attribute %q of the complex", want.Name, there.Name)
		case there.Type != want.Type:
			return nil, fmt.Errorf("gpu: denied: attribute %q of the complex has the type %s, not %s", want.Name,
				there.Type, want.Type)
		}
	}
	return add, nil
}
