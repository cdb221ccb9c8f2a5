// Package bustest gives tests file systems of their own: one that is small
// enough to be filled, or any that they mount where nobody else sees it.
package bustest
