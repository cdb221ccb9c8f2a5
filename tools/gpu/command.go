package gpu

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gpu"
	"github.com/quill-grid/quill/pkg/opt"
)

// Command returns `quill gpu`.
func Command(env opt.Env) *cli.Command {
	env = env.Printable()
	return &cli.Command{
		Name: "gpu", Usage: "find the GPUs of this host, and offer them to jobs", ArgsUsage: "[ADDRESS...]",
		Description: "Lists the GPUs that the drivers of NVIDIA and AMD and the kernel know, and the complex attributes and the complex_values with\n" +
			"which a host offers them as a resource map. --apply adds these attributes to the cell and sets the value of the host.\n" +
			"A GPU that jobs cannot use as it is (excluded by its driver, divided into MIG instances, without UUID) is offered only when its\n" +
			"address is given: then those whose addresses are given are offered, and no others.",
		Flags: []cli.Flag{
			&cli.BoolFlag{
				Name: "apply", Usage: "add the attributes that are missing, and set the value of the host; for managers"},
			&cli.StringFlag{Name: "resource", Value: "gpu", Usage: "`NAME` of the resource map"},
			&cli.StringFlag{Name: "host", Usage: "`HOST` that --apply sets", DefaultText: "this one"},
			&cli.StringFlag{Name: "sysroot", Value: "/",
				Usage: "`DIR` with the directories proc and sys of a host, for instance recorded on another one"},
			opt.JSONFlag(),
		},
		Action: func(c *cli.Context) error { return run(c, env) },
	}
}

func run(c *cli.Context, env opt.Env) error {
	addresses, err := opt.Words(c)
	if err != nil {
		return fmt.Errorf("gpu: %w", err)
	}
	if c.Bool("help") {
		return cli.ShowSubcommandHelp(c)
	}
	switch resource := c.String("resource"); {
	case resource == "" || word(resource) != resource:
		return opt.Usagef("gpu: --resource: %q is no name of an attribute", resource)
	case c.Bool("json") && c.Bool("apply"):
		return opt.Usagef("gpu: --json and --apply exclude each other")
	case c.IsSet("host") && !c.Bool("apply"):
		return opt.Usagef("gpu: --host is for --apply")
	case c.IsSet("sysroot") && c.Bool("apply") && !c.IsSet("host"):
		return opt.Usagef("gpu: --apply of a recorded tree needs --host")
	}
	root := c.String("sysroot")
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return opt.Usagef("gpu: --sysroot: %q is no directory", root)
	}
	gpus, problems := gpu.Find(os.DirFS(root))
	for _, p := range problems {
		fmt.Fprintf(env.Stderr, "gpu: %v\n", p)
	}
	chosen, err := choose(gpus, addresses)
	if err != nil {
		return err
	}
	o := offerOf(c.String("resource"), chosen, nil)
	switch {
	case c.Bool("json"):
		err = document.Write(env.Stdout, documentOf(gpus, o, c.String("resource")))
	case c.Bool("apply"):
		if len(problems) > 0 && len(addresses) == 0 { // what is not found would be taken off the map
			return errors.New(
				"gpu: nothing was changed, because files of the host are damaged: name the GPUs to offer by their addresses")
		}
		if len(chosen) == 0 {
			return errors.New("gpu: there is nothing to offer: no GPU of this host can be used as it is, see `quill gpu`")
		}
		err = apply(c, env, chosen)
	default:
		err = show(env.Stdout, gpus, o)
	}
	if err == nil && len(problems) > 0 {
		return cli.Exit("", 1)
	}
	return err
}

// choose returns the GPUs that are to be offered: those with these addresses, or all that can be used.
func choose(gpus []gpu.GPU, addresses []string) (chosen []*gpu.GPU, err error) {
	for _, a := range addresses {
		if !slices.ContainsFunc(gpus, func(g gpu.GPU) bool { return g.Address == strings.ToLower(a) }) {
			return nil, fmt.Errorf("gpu: this host has no GPU %q", a)
		}
	}
	for i := range gpus {
		g := &gpus[i]
		named := slices.ContainsFunc(addresses, func(a string) bool { return strings.EqualFold(a, g.Address) })
		if named || len(addresses) == 0 && g.Unfit == "" {
			chosen = append(chosen, g)
		}
	}
	return chosen, nil
}

// show prints what was found, and what the cell needs to know.
func show(out io.Writer, gpus []gpu.GPU, o offer) error {
	if len(gpus) == 0 {
		_, err := fmt.Fprintln(out, "no GPUs were found")
		return err
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "address\tid\tvendor\tmodel\tmemory\tnuma\tdevices\tuuid")
	for i := range gpus {
		g := &gpus[i]
		memory, numa := "-", "-"
		if g.Memory > 0 {
			memory = fmt.Sprintf("%.1fG", float64(g.Memory)/(1<<30))
		}
		if g.NUMA >= 0 {
			numa = fmt.Sprint(g.NUMA)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", g.Address, cmp.Or(o.ids[g], "-"), g.Vendor, cmp.Or(g.Model, "-"),
			memory, numa, cmp.Or(strings.Join(g.Devices, ","), "-"), cmp.Or(g.UUID, "-"))
	}
	w.Flush()
	for i := range gpus {
		if _, offered := o.ids[&gpus[i]]; !offered && gpus[i].Unfit != "" {
			fmt.Fprintf(&b, "%s is not offered: %s\n", gpus[i].Address, gpus[i].Unfit)
		}
	}
	if len(o.ids) > 0 {
		b.WriteString("\ncomplex attributes, for qconf -Ace or qconf -mc:\n")
		w = tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, a := range o.attributes {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", a.Name, a.Shortcut, a.Type, a.Relop, a.Requestable, a.Consumable,
				a.Default, a.Urgency)
		}
		w.Flush()
		fmt.Fprintf(&b, "\ncomplex_values of the host, for qconf -me:\n%s=%s\n", o.attributes[0].Name, o.value)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func documentOf(gpus []gpu.GPU, o offer, resource string) document.GPUs {
	d := document.GPUs{GPUs: []document.GPU{}, Resource: resource}
	if len(o.ids) > 0 {
		d.Value = o.value
	}
	for i := range gpus {
		g := &gpus[i]
		row := document.GPU{Address: g.Address, ID: o.ids[g], Vendor: g.Vendor, Model: g.Model, UUID: g.UUID,
			Memory: g.Memory, Devices: append([]string{}, g.Devices...), Unfit: g.Unfit}
		if g.NUMA >= 0 {
			row.NUMA = &g.NUMA
		}
		d.GPUs = append(d.GPUs, row)
	}
	return d
}
