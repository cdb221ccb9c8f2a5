package opt

import (
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/cell"
)

// DirFlag returns the option that points the cell's commands elsewhere than the environment does.
func DirFlag() cli.Flag {
	return &cli.StringFlag{Name: "dir", Usage: "the cell whose SGE_ROOT is `DIR`",
		DefaultText: "what the environment says, else as quill(1) finds it"}
}

// CellOf returns the cell that --dir or the environment names.
func CellOf(env Env, c *cli.Context) (cell.Cell, error) {
	if dir := c.String("dir"); dir != "" {
		abs, err := filepath.Abs(dir)
		return cell.Cell{Root: abs, Name: cell.DefaultName}, err
	}
	return cell.FindIn(env.Getenv)
}
