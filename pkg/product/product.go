// Package product has the name and the version of the product, as help, exports and libdrmaa show them. It must not
// know who does. There is nothing to add.
package product

// Name is the product's name.
const Name = "QUILL"

// gridEngine is what the product is compatible with. Programs look for GE in the first word of a help text, and read
// MAJOR.MINOR.PATCH after it.
const gridEngine = "GE 8.1.9"

// Version is the product's version. The Makefile sets that of git describe.
var Version = "0.1.0"

// Banner is the first line of every help text of Grid Engine's commands, and the name of the system in libdrmaa.
func Banner() string { return gridEngine + " (Quill " + Version + ")" }
