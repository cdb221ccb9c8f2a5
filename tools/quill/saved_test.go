package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestSavedConfiguration loads the configuration of a real Grid Engine, that of the story qconf-saved, into a new cell
// with the commands of the chapter on Grid Engine, saves it with those of the chapter, and compares.
func TestSavedConfiguration(t *testing.T) {
	t.Parallel()
	project := projectDir(t)
	story, err := txtar.ParseFile("testdata/script/qconf_saved.txtar")
	if err != nil {
		t.Fatal(err)
	}
	chapter, err := os.ReadFile("../manual/grid-engine.md")
	if err != nil {
		t.Fatal(err)
	}
	commandsOf := func(heading string) string {
		_, text, _ := strings.Cut(string(chapter), "\n## "+heading+"\n")
		text, _, _ = strings.Cut(text, "\n## ")
		commands, faults := fenced(text, map[string]bool{})
		if commands == "" || faults != nil {
			t.Fatalf("commands of %q: %q %v", heading, commands, faults)
		}
		return commands
	}
	folders := strings.NewReplacer("cqueue-", "queue/", "exechost-", "host/", "hgroup-", "hostgroup/", "pe-", "pe/",
		"project-", "project/", "user-", "user/",
		"userset-", "userset/", "calendar-", "calendar/", "ckpt-", "ckpt/", "global", "conf/global", "node1", "conf/node1",
		"rqs", "quotas", "schedconf", "scheduler")
	given := t.TempDir()
	compare := ""
	for _, f := range story.Files {
		name, ok := strings.CutPrefix(f.Name, "site/")
		if !ok {
			continue
		}
		if folder, object, ok := strings.Cut(name, "-"); ok {
			name = folders.Replace(folder+"-") + object
		} else {
			name = folders.Replace(name)
		}
		path := filepath.Join(given, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
		switch name {
		case "host/node1": // it reports its load itself
		case "complex": // with attributes that Grid Engine does not have
			compare += "grep -Ev '^(h_pids|container|cgroup|device_isolation) ' saved/complex | diff -w given/complex -\n"
		default:
			compare += "cmp given/" + name + " saved/" + name + "\n"
		}
	}
	if strings.Count(compare, "\n") < 20 {
		t.Fatalf("the story has too few objects:\n%s", compare)
	}
	runCommands(t, project, "quill up --hosts 3 --slots 9\ncp -r "+given+" given\nln -s given saved\n"+
		commandsOf("Load it")+
		"rm saved\n"+commandsOf("Save the configuration")+compare)
}
