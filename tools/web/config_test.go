package web

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/grid"
)

// TestTypedAttributes: of each kind the attributes of an answer match the schema of the kind, and a new object that is
// given them, one by one, has the same attributes.
func TestTypedAttributes(t *testing.T) {
	c := newCell(t, 2)
	c.configure("rqs", "a", "{\nname a\nenabled TRUE\nlimit users {*} to slots=2,num_proc=9\n}\n")
	c.configure("userset", "u", "name u\ntype ACL DEPT\nfshare 3\noticket 4\nentries alice,@users\n")
	c.configure("project", "p", "name p\noticket 0\nfshare 7\nacl u\nxacl NONE\n")
	c.configure("user", "alice", "name alice\noticket 0\nfshare 7\ndelete_time 1893456000\ndefault_project p\n")
	c.configure("calendar", "night", "calendar_name night\nyear 24.12.2026-26.12.2026=off\nweek mon-fri=8-18=off\n")
	c.configure("config", "h1", "load_report_time 0:1:30\nuser_lists u\nmailer /bin/mail\n")
	c.configure("sharetree", "sharetree",
		"id=0\nname=Root\ntype=0\nshares=1\nchildnodes=1\nid=1\nname=default\ntype=0\nshares=10\nchildnodes=NONE\n")
	q := *c.c.Core.State().CQueue("all.q")
	for name, text := range map[string]string{
		"slots": "1,[@allhosts=2],[h1=4]", "h_rt": "1:0:0,[h2=INFINITY]", "s_vmem": "4G",
		"load_thresholds": "np_load_avg=1.75,mem_free=100M", "complex_values": "num_proc=3,[h1=num_proc=8]",
		"user_lists": "u", "rerun": "TRUE", "prolog": "root@/bin/true,[h1=/bin/false]",
	} {
		o, err := conf.Set(&q, name, text)
		if err != nil {
			t.Fatal(name, err)
		}
		q = *o.(*grid.CQueue)
	}
	c.configure("cqueue", "all.q", conf.EditText(&q))
	_, kinds := configKinds()
	at, err := c.server.mirror.Now()
	if err != nil {
		t.Fatal(err)
	}
	for name, spec := range kinds {
		schema := attributeSchema(spec)
		values := document.Attributes(at.View(), spec.Kind)
		objects := 0
		c.c.Core.State().Each(spec.Kind, func(o grid.Object) bool {
			objects++
			text, err := json.Marshal(attributes{values(o)})
			if err != nil {
				t.Fatal(err)
			}
			checkSchema(t, name, schema, text)
			again := setAll(t, spec, o, text)
			other, _ := json.Marshal(attributes{values(again)})
			if string(other) != string(text) {
				t.Errorf("%s %s:\n%s\n%s", name, o.Key(), text, other)
			}
			return true
		})
		if objects == 0 && spec.Kind != grid.KindOperator && spec.Kind != grid.KindCkpt {
			t.Errorf("no %s was tested", name)
		}
	}
}

// checkSchema holds JSON against a schema; nil: the kind has no attributes.
func checkSchema(t *testing.T, kind string, schema *map[string]any, text []byte) {
	t.Helper()
	if schema == nil {
		if string(text) != "{}" {
			t.Errorf("%s has attributes, and no schema: %s", kind, text)
		}
		return
	}
	out, err := json.Marshal(schema)
	s := new(jsonschema.Schema)
	if err == nil {
		err = json.Unmarshal(out, s)
	}
	resolved, err2 := s.Resolve(nil)
	var instance map[string]any
	if err3 := json.Unmarshal(text, &instance); err != nil || err2 != nil || err3 != nil {
		t.Fatal(err, err2, err3)
	}
	if err := resolved.Validate(instance); err != nil {
		t.Errorf("%s: %v\n%s", kind, err, text)
	}
}

// setAll returns a new object of the name of another with attributes from JSON.
func setAll(t *testing.T, spec *grid.Spec, old grid.Object, text []byte) grid.Object {
	t.Helper()
	p := &ConfigObject{Kind: strings.ToLower(spec.Name), Name: old.Key().Name}
	if err := json.Unmarshal(text, &p.Attributes); err != nil {
		t.Fatal(err)
	}
	if _, is := old.(*grid.Conf); is { // its name is no attribute
		n := reflect.New(reflect.TypeOf(old).Elem()).Interface().(*grid.Conf)
		n.Host = old.Key().Name
		old = n
	} else {
		old = nil
	}
	o, err := p.setAttributes(spec, old, "body")
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", p.Kind, p.Name, err, text)
	}
	return o
}
