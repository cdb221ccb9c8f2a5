package grid

import "testing"

func TestParseInstance(t *testing.T) {
	for name, want := range map[string]Instance{
		"gpu:GPU0@node1":        {Resource: "gpu", ID: "GPU0", Host: "node1"},
		"gpu:0000:3b:00.0@n.de": {Resource: "gpu", ID: "0000:3b:00.0", Host: "n.de"},
		"seat:a@b@global":       {Resource: "seat", ID: "a@b", Host: "global"},
	} {
		if i, ok := ParseInstance(name); !ok || i != want || i.Name() != name {
			t.Errorf("%s: %+v, %v", name, i, ok)
		}
	}
	for _, name := range []string{"", "gpu", "all.q@node1", "gpu:GPU0", ":GPU0@node1", "gpu:@node1", "gpu:GPU0@"} {
		if i, ok := ParseInstance(name); ok {
			t.Errorf("%q is read as %+v", name, i)
		}
	}
}
