// Package product has the name and the version of the product, as help, exports and libdrmaa show them. It must not know who does.
// There is nothing to add.
package product

// Name begins the first line of every help text, which programs read as NAME MAJOR.MINOR.PATCH.
const Name = "QUILL"

// Version is the product's version. The Makefile sets that of git describe.
var Version = "0.1.0"
