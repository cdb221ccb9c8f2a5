package embedded

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/minio/highwayhash"

	"github.com/quill-grid/quill/pkg/bus"
)

// The files of a stream, as nats-server 2.15 writes them (server/filestore.go) without compression and encryption. A
// block is a file N.blk of records, one after the other:
//
//	4 bytes  length of the record; highest bit: it has headers
//	8 bytes  number of the message; highest bit: erased, the next: a note that messages were removed
//	8 bytes  time
//	2 bytes  length of the subject
//	         subject; with headers their length (4 bytes) and they; message
//	8 bytes  HighwayHash of number, time, subject, headers and message
//
// All numbers are little-endian. The index says what the blocks hold. Its last 16 bytes are the hash of the last record
// of the last block, and of the index itself.
const (
	blockSuffix   = ".blk"
	recordHead    = 22
	recordHash    = 8
	recordMax     = 32 << 20
	withHeaders   = 1 << 31
	notMessage    = 3 << 62
	headersLength = 4
)

// readBlocks is bus.ReadBlocks.
func readBlocks(dir, stream string, from uint64) ([]bus.Block, error) {
	names, err := blockFiles(dir)
	if err != nil {
		return nil, err
	}
	current, err := indexIsCurrent(dir, stream, names)
	if err != nil {
		return nil, err
	}
	if current {
		for len(names) > 1 {
			if next, err := firstNumber(filepath.Join(dir, names[1])); err != nil || next == 0 || next > from {
				break
			}
			names = names[1:]
		}
	}
	blocks := make([]bus.Block, 0, len(names))
	last := uint64(0)
	var text []byte
	for _, name := range names {
		if text, err = readInto(text, filepath.Join(dir, name)); err != nil {
			return nil, err
		}
		b := readBlock(text, newHash(stream+"-"+strings.TrimSuffix(name, blockSuffix)), last)
		blocks, last = append(blocks, b), max(last, b.Last)
	}
	return blocks, nil
}

// blockFiles returns the names of the blocks, in order.
func blockFiles(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	number := map[string]int{}
	for _, e := range entries {
		var n int
		if k, _ := fmt.Sscanf(e.Name(), "%d"+blockSuffix, &n); k == 1 && e.Name() == fmt.Sprint(n, blockSuffix) {
			names, number[e.Name()] = append(names, e.Name()), n
		}
	}
	slices.SortFunc(names, func(a, b string) int { return number[a] - number[b] })
	return names, err
}

// indexIsCurrent reports whether the server reads no block when it starts: the index was written after the last record.
func indexIsCurrent(dir, stream string, names []string) (bool, error) {
	index, err := os.ReadFile(filepath.Join(dir, bus.IndexFile))
	if errors.Is(err, fs.ErrNotExist) || err == nil && (len(index) < 2*recordHash || len(names) == 0) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	last, err := os.Open(filepath.Join(dir, names[len(names)-1]))
	if err != nil {
		return false, err
	}
	defer last.Close()
	end := make([]byte, recordHash)
	if at, err := last.Seek(-recordHash, io.SeekEnd); err == nil {
		_, err = last.ReadAt(end, at)
		if err != nil {
			return false, err
		}
	}
	body, sum := index[:len(index)-recordHash], index[len(index)-recordHash:]
	hash := newHash(stream)
	hash.Write(body)
	return bytes.Equal(hash.Sum(nil), sum) && bytes.Equal(body[len(body)-recordHash:], end), nil
}

// newHash returns the hash of a stream's index, or with the number of a block of its records.
func newHash(of string) *highwayhash.Digest64 {
	key := sha256.Sum256([]byte(of))
	hash, err := highwayhash.NewDigest64(key[:])
	if err != nil {
		panic(err) // the length of the key is wrong
	}
	return hash
}

// firstNumber returns the number in the first record of a block; 0: that is no message.
func firstNumber(path string) (uint64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var head [recordHead]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return 0, nil
	}
	return messageNumber(head[:]), nil
}

func messageNumber(head []byte) uint64 {
	if n := binary.LittleEndian.Uint64(head[4:]); n&notMessage == 0 {
		return n
	}
	return 0
}

// readInto reads a file into a buffer, or a longer one.
func readInto(buffer []byte, path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return buffer, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return buffer, err
	}
	buffer = slices.Grow(buffer[:0], int(info.Size()))[:info.Size()]
	_, err = io.ReadFull(f, buffer)
	return buffer, err
}

// readBlock reads the records of a block after the message before; 0: its number is not known.
func readBlock(text []byte, hash *highwayhash.Digest64, before uint64) bus.Block {
	block, sum := bus.Block{Whole: true}, [recordHash]byte{}
	for len(text) > 0 {
		size := recordLength(text)
		if size == 0 {
			block.Whole, block.Lost = false, true
			return block
		}
		head, data := text[:recordHead], text[recordHead:size-recordHash]
		subject := data[:binary.LittleEndian.Uint16(head[20:])]
		rest := data[len(subject):]
		if hasHeaders(head) {
			rest = rest[headersLength:]
		}
		hash.Reset()
		hash.Write(head[4:20])
		hash.Write(subject)
		hash.Write(rest)
		good := bytes.Equal(hash.Sum(sum[:0]), text[size-recordHash:size])
		number := messageNumber(head)
		switch {
		case !good && (before == 0 || number != before+1):
			block.Lost = true
			fallthrough
		case !good || !headersEnd(head, data):
			block.Whole = false
		case block.Whole && number != 0:
			block.Last = max(block.Last, number)
			block.First = cmp.Or(block.First, number)
		}
		before = max(before, number)
		text = text[size:]
	}
	return block
}

func hasHeaders(head []byte) bool { return binary.LittleEndian.Uint32(head)&withHeaders != 0 }

// headersEnd reports whether the headers of a record end where its length of headers says. The server has no checksum
// of that: with a wrong one it sends something else.
func headersEnd(head, data []byte) bool {
	if !hasHeaders(head) {
		return true
	}
	data = data[binary.LittleEndian.Uint16(head[20:]):]
	length := int(binary.LittleEndian.Uint32(data))
	data = data[headersLength:]
	return length <= len(data) && bytes.HasSuffix(data[:length], []byte("\r\n\r\n"))
}

// recordLength returns the length of the record with which text begins; 0: it cannot be one.
func recordLength(text []byte) int {
	if len(text) < recordHead+recordHash {
		return 0
	}
	size := int(binary.LittleEndian.Uint32(text) &^ withHeaders)
	least := recordHead + int(binary.LittleEndian.Uint16(text[20:])) + recordHash
	if hasHeaders(text) {
		least += headersLength
	}
	if size < least || size > min(len(text), recordMax) {
		return 0
	}
	return size
}
