// Package complex has the cluster's resource attributes, complex(5), and their
// arithmetic: values and requests are parsed, compared, summed and printed here.
//
//	[]grid.Centry ── New ──▶ Attributes
//	                         ├─ Normalise(requests)      -l as stored, or qsub's error
//	                         ├─ Supply(complex_values)   what a level configures: capacities, values, resource maps
//	                         ├─ ParseMap(value)          the instances of one resource map, or qconf's error
//	                         ├─ Selection(map, block)    the characteristics that a request asks of instances, or qsub's error
//	                         ├─ Demands(requests)        what a job takes of the consumables
//	                         ├─ Conditions(requests)     what a job compares with configured values and load
//	                         ├─ Thresholds(values)       load_thresholds, suspend_thresholds
//	                         └─ ParseFormula(text)       load_formula
//
// An attribute is known by its index in Attributes.List. One that is booked (a
// consumable) has a column as well: its position in every row of capacities and
// utilization. Column 0 is slots.
//
// The package must not know hosts, queues or what is in use: pkg/sched keeps the
// rows and decides what fits. To add a relation: Attribute.Compare (numbers) and
// Matches (texts). To add an attribute type: grid.CentryType.Parse, and Format if
// it prints in its own way.
package complex
