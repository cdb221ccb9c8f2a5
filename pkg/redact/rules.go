package redact

import (
	"reflect"

	"github.com/quill-grid/quill/pkg/grid"
)

// rule is what becomes of a string.
type rule uint8

const (
	keep    rule = iota + 1 // the cluster's own
	who                     // a user, a unix group, a project
	job                     // a job's name
	secret                  // not to be published
	text                    // words, some of which are names
	at                      // who@host
	quota                   // a rule of a resource quota set
	refs                    // jobs by number or name
	both                    // user/project
	receipt                 // user:request
	config                  // text, with mail addresses
	image                   // of a container: secret but for its extension, by which hosts offer a starter
)

// rules has for the words of grid.SeeTag what becomes of the strings of a field.
var rules = map[string]rule{
	"keep": keep, "who": who, "job": job, "text": text, "at": at, "quota": quota, "refs": refs, "config": config,
	"cell": secret, "owner": secret, "daemons": secret,
}

// ruleOf returns what becomes of the strings of a field. What is within a field without a tag of its own (a list, an
// exception for a host, a named value) follows the field; what no field has decided is secret.
func ruleOf(t reflect.Type, i int, outer rule) rule {
	word, decided := t.Field(i).Tag.Lookup(grid.SeeTag)
	if !decided {
		return outer
	}
	if how, known := rules[word]; known {
		return how
	}
	return secret
}

// fixed are names that mean something to the programs themselves.
var fixed = map[string]bool{
	"": true, "NONE": true, "none": true, "*": true, "default": true, "Root": true, "template": true, "UNDEFINED": true,
}
