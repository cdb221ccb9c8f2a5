package outcome

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Comparison is outcomes of one workload, side by side.
type Comparison struct {
	Workload string // its name
	Unit     string // what ended: jobs, tasks
	Machine  string // what Slots counts: processors, slots
	Columns  []Column
}

// Column is an outcome with what is computed from it, and what else is known of it.
type Column struct {
	Summary
	Of     *Outcome
	Passes int           // scheduling runs
	Took   time.Duration // of this machine's time; 0: it was not simulated
}

// Add appends an outcome.
func (c *Comparison) Add(o *Outcome, passes int, took time.Duration) {
	c.Columns = append(c.Columns, Column{o.Summary(), o, passes, took})
}

// label is the name of an outcome, with the algorithm that decided where they differ.
func (c *Comparison) label(o *Outcome) string {
	switch {
	case c.algorithm() != "" && o.Name != "", o.Policy == "", strings.Contains(o.Name, o.Policy):
		return o.Name
	case o.Name == "":
		return o.Policy
	}
	return fmt.Sprintf("%s (%s)", o.Name, o.Policy)
}

// algorithm is the one that decided in all; "": there are several, or it is unknown.
func (c *Comparison) algorithm() string {
	first := c.Columns[0].Of.Policy
	if slices.ContainsFunc(c.Columns, func(o Column) bool { return o.Of.Policy != first }) {
		return ""
	}
	return first
}

// policies are the labels of all, as a title has them.
func (c *Comparison) policies() string {
	const most = 3
	if len(c.Columns) > most {
		return fmt.Sprintf("%d policies", len(c.Columns))
	}
	var names []string
	for _, o := range c.Columns {
		names = append(names, c.label(o.Of))
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return names[0]
}

// subject is workload, capacity and the algorithm if it is the same for all, as the line below a title has them.
func (c *Comparison) subject() string {
	text := fmt.Sprintf("%s: %d %s on %s", c.Workload, c.Columns[0].Jobs, c.Unit, c.capacity())
	if a := c.algorithm(); a != "" {
		text += ", algorithm " + a
	}
	return text
}

// capacity is the size of the machine, of each where they differ.
func (c *Comparison) capacity() string {
	size := func(o *Outcome) string { return fmt.Sprintf("%d %s", o.Slots, c.Machine) }
	first := c.Columns[0].Of
	if !slices.ContainsFunc(c.Columns, func(o Column) bool { return o.Of.Slots != first.Slots }) {
		return size(first)
	}
	var words []string
	for _, o := range c.Columns {
		words = append(words, fmt.Sprintf("%s (%s)", size(o.Of), cmp.Or(o.Of.Name, o.Of.Policy)))
	}
	return strings.Join(words, ", ")
}
