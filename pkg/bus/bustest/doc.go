// Package bustest gives tests a disk that is small enough to be filled.
package bustest
