package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed static
var static embed.FS

// asset is a file of the pages. Its address has a digest of its content, so browsers keep it for good.
type asset struct {
	path, contentType string
	plain             []byte
	packed            func() []byte // by gzip
}

// loadAssets returns the files of static, by name.
func loadAssets() map[string]*asset {
	files, err := static.ReadDir("static")
	if err != nil {
		panic(err)
	}
	out := map[string]*asset{}
	for _, f := range files {
		text, err := static.ReadFile("static/" + f.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(text)
		a := &asset{plain: text, contentType: mime.TypeByExtension(path.Ext(f.Name())),
			packed: sync.OnceValue(func() []byte { return packed(text) })}
		base, extension, _ := strings.Cut(f.Name(), ".")
		a.path = "/static/" + base + "-" + hex.EncodeToString(sum[:6]) + "." + extension
		out[f.Name()] = a
	}
	return out
}

func packed(text []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is one
	_, _ = z.Write(text)
	_ = z.Close()
	return b.Bytes()
}

// static serves a file.
func (c *Console) static(w http.ResponseWriter, r *http.Request) {
	for _, a := range c.assets {
		if a.path != r.URL.Path {
			continue
		}
		h := w.Header()
		h.Set("Content-Type", a.contentType)
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		h.Set("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
			_, _ = w.Write(a.packed())
			return
		}
		_, _ = w.Write(a.plain)
		return
	}
	c.Refuse(w, r, &Problem{Status: http.StatusNotFound, Text: "There is no " + r.URL.Path + "."})
}
