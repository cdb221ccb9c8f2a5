// Package pattern is the language in which names and resource values are
// asked for, sge_types(1): wildcards, and expressions of them. The scheduler,
// qmaster and the listing commands read it here. Pure.
package pattern
