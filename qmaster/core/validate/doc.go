// Package validate decides what is wrong with what a user submits: objects of the
// configuration, jobs and their changes, reservations, tokens, PE tasks.
//
//	object + cell.Cell ─▶ gdi.Answer that refuses, or a text, or none
//
// Checks of a new object also complete it: they set what qmaster alone may say, and bring
// requests into their stored form.
//
// Objects of the configuration have one file per kind (centry.go, conf.go, cqueue.go, host.go,
// quota.go, schedconf.go, sharetree.go, ...; config.go has the small ones), and a row in the
// table of rules.go: what is wrong with an object itself, what it names, what names it. Object,
// WhyInUse, WhyClash and WithoutEffect go by the table. arhold.go is what advance reservations
// hold. Jobs: submit.go (a new job), scope.go, alter.go (qalter), limits.go (qalter -when now),
// jsv.go (what may be changed after a verifier has accepted a job), mail.go. ar.go has
// reservations, petask.go PE tasks, token.go tokens.
//
// The package must not know Core: nothing is emitted, sent or answered here. The texts are Grid
// Engine's where it has one.
//
// To add a rule of a kind: a function in the file of the kind, and its place in rulesOf.
package validate
