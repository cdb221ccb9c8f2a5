// Package pattern is the language in which names and resource values are
// asked for, sge_types(1): wildcards, and expressions of them. The scheduler,
// qmaster and the listing commands read it here. Pure.
//
// The package must not know what is named. To add an operator: a case of the parser,
// and its lines in the tests.
package pattern
