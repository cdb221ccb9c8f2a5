package bus

import (
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"
)

// parseAck returns the stream sequence at which the server has stored a message, or
// *apiError if it refused it.
func parseAck(answer *nats.Msg) (stored uint64, err error) {
	var ack struct {
		Seq   uint64    `json:"seq"`
		Error *apiError `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &ack); err != nil {
		return 0, fmt.Errorf("acknowledgement: %w", err)
	}
	if ack.Error != nil {
		return 0, ack.Error
	}
	return ack.Seq, nil
}

// apiError is how the server says no.
type apiError struct {
	Code    int    `json:"code"`
	ErrCode int    `json:"err_code"`
	Text    string `json:"description"`
}

func (e *apiError) Error() string { return e.Text }

// errorCode is never 0, which means no answer.
func (e *apiError) errorCode() int {
	if e.ErrCode == 0 {
		return -1
	}
	return e.ErrCode
}
