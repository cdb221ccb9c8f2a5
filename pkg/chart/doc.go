// Package chart draws values as SVG: pure functions, no script, the same drawing for pages of quill web and for
// pictures and reports of commands.
//
//	values ──▶ Chart{Axis, Panels{Series}} ──▶ Draw(Bare)          quill web: the page has title, legend and colours
//	                                       ──▶ Draw(Wide | Narrow) reports: legend beside the panels, colours of Style()
//	                                       ──▶ File()              an .svg file: heading, legend, colours
//
//	chart.go   what is drawn     axis.go    marks of time           draw.go   lines, bars, areas, boxes
//	layout.go  sizes, heading, legend       style.go  colours, light and dark       numbers.go  the same as a table
//
// A value is NaN where it is not known. Gaps are shaded and lines are interrupted there: 0 is drawn, so idle differs
// from missing. Colours are those of Okabe and Ito, which people with any colour vision distinguish, and lines differ
// in dashes too.
//
// It knows values and markup. It must not know what the values are of, and nothing of pages. To add a form of a series:
// a Form, its method beside line and bars in draw.go, its sample in the legend and its class in style.go.
package chart
