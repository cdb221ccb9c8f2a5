package opttest

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/tools/decide"
	"github.com/quill-grid/quill/tools/jobstory"
	"github.com/quill-grid/quill/tools/outcome"
)

var update = flag.Bool("update", false, "write the JSON Schemas of the manual")

// avoided are members named with words that the glossary has others for.
var avoided = regexp.MustCompile(`"(told|tidings|truth|vain|wish|verdict|sight|cast|keeper|heard)":`)

const folder = "../../../tools/manual/schemas"

// TestSchemas checks that the schemas of the manual are those that follow from the types, no more and no fewer.
func TestSchemas(t *testing.T) {
	wanted := map[string]bool{}
	// whose types say more than pkg/document knows
	ofCommands := []document.Document{jobstory.Story{}, jobstory.WaitingTasks{}, jobstory.WaitingPlace{}, decide.Report{},
		outcome.Schedules{}}
	for _, d := range append(ofCommands, document.Documents()...) {
		name := d.SchemaName() + ".schema.json"
		wanted[name] = true
		want, err := Schema(d)
		if err != nil {
			t.Fatal(err)
		}
		if word := avoided.FindString(string(want)); word != "" {
			t.Errorf("%s: the glossary of the style guide avoids the member %s", name, word)
		}
		path := filepath.Join(folder, name)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != string(want) {
			t.Errorf("%s is not the schema of %T: go test ./pkg/opt/opttest -update writes it (%v)", path, d, err)
		}
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !wanted[f.Name()] {
			t.Errorf("%s/%s is the schema of no document", folder, f.Name())
		}
	}
}

// TestCheckDocument checks that documents which differ from their schema are found.
func TestCheckDocument(t *testing.T) {
	head := `{"$schema":"` + document.Dialect + `","$id":"` + document.ID(document.Quotas{}) + `",`
	if err := CheckDocument(head + `"quota_usage":[]}`); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{`{`, `{"$id":"urn:quill:schema:none"}`, head + `"quota_usage":null}`,
		head + `"quota_usage":[],"more":1}`,
		head + `"quota_usage":[{"rqs_name":1}]}`, strings.Replace(head, "2020-12", "2019-09", 1) + `"quota_usage":[]}`} {
		if CheckDocument(bad) == nil {
			t.Errorf("%s matches", bad)
		}
	}
}
