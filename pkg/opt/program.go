package opt

import (
	"fmt"
	"os"
	"path/filepath"
)

// Program is the path of another of Quill's programs: it lies beside this one.
func Program(name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(self), name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the program %s is missing beside %s: %w", name, filepath.Base(self), err)
	}
	return path, nil
}
