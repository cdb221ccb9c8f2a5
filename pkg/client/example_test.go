package client_test

import (
	"context"
	"fmt"
	"os"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster"
)

// A program adds a project, and lists what there is. Usually the cell runs already and cell.Find finds it.
func ExampleConnect() {
	root, err := os.MkdirTemp("", "cell")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(root)
	ctx := context.Background()
	where := cell.Cell{Root: root, Name: cell.DefaultName}
	master, err := qmaster.Start(ctx, qmaster.Options{Cell: where})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer master.Stop()
	if err := addProject(ctx, where); err != nil {
		fmt.Println(err)
	}
	// Output:
	// project "gold" already exists
	// gold
}

func addProject(ctx context.Context, where cell.Cell) error {
	c, err := client.Connect(ctx, where)
	if err != nil {
		return err // nobody answers
	}
	defer c.Close()
	for range 2 {
		reply, err := c.Do(ctx, "example", &gdi.Add{Objects: []grid.Object{grid.DefaultProject("gold")}})
		if err != nil {
			return err
		}
		if err := reply.Err(); err != nil { // a refusal, as qconf prints it
			fmt.Println(err)
		}
	}
	_, err = c.Get(ctx, gdi.Get{Kinds: []grid.Kind{grid.KindProject}}, func(o grid.Object) error {
		fmt.Println(o.Key().Name)
		return nil
	})
	return err
}
