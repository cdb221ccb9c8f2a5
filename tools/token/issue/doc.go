// Package issue has qmaster issue and revoke tokens, for `quill token` and for `quill web`,
// which prints a link with a token of its user.
//
// It must not know how a token is shown. To add something that a command may want of
// its token: a flag that Wanted reads.
package issue
