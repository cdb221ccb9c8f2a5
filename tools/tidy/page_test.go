package tidy

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the package table of the manual")

// page is the chapter with the package table, between these two lines.
const (
	page  = "../manual/architecture.md"
	begin = "<!-- go test ./tools/tidy -update writes this table from the import plan and the packages' doc.go -->\n"
	end   = "<!-- end of the table -->\n"
)

// TestPage checks that the package table of the manual is the one that follows from the plan.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	old, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for the package table: %s%s", page, begin, end)
	}
	want := table(t, plan, list(t))
	switch {
	case want == old:
	case *update:
		if err := os.WriteFile(page, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the package table of %s is not that of the plan: go test ./tools/tidy -update writes it\n%s", page,
			differing(old, want))
	}
}

// table returns the table: the packages in the order of the plan, commands of Grid Engine in one row.
func table(t *testing.T, plan []row, all []listed) string {
	var b strings.Builder
	b.WriteString("| package | level | pure | what it knows |\n| --- | --- | --- | --- |\n")
	for i := range plan {
		r := &plan[i]
		pure := ""
		if r.isPure() {
			pure = "yes"
		}
		if r.path == "tools/q*" {
			fmt.Fprintf(&b, "| `tools/ge/qNAME` | %d %s | | the command of that name; one folder each |\n", r.level,
				levelNames[r.level])
			continue
		}
		for _, p := range all {
			if rowOf(plan, p.ImportPath) != r {
				continue
			}
			if p.Doc == "" {
				t.Errorf("%s has no package comment", p.ImportPath)
			}
			fmt.Fprintf(&b, "| `%s` | %d %s | %s | %s |\n", p.ImportPath, r.level, levelNames[r.level], pure, knows(p.Doc))
		}
	}
	return b.String()
}

// knows returns the first sentence of a package comment without its subject, "Package NAME".
func knows(doc string) string {
	for _, subject := range []string{"Package ", "Command "} {
		if rest, ok := strings.CutPrefix(doc, subject); ok {
			_, doc, _ = strings.Cut(rest, " ")
		}
	}
	return strings.ReplaceAll(strings.TrimRight(doc, ".:"), "|", "\\|")
}

// differing returns the lines of each text that the other does not have.
func differing(old, want string) string {
	var b strings.Builder
	for _, side := range []struct{ sign, text, other string }{{"-", old, want}, {"+", want, old}} {
		for _, line := range strings.Split(side.text, "\n") {
			if !strings.Contains("\n"+side.other+"\n", "\n"+line+"\n") {
				b.WriteString(side.sign + line + "\n")
			}
		}
	}
	return b.String()
}
