package transport

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// frameHead is the size of what stands before a message: a flag, and its length.
const frameHead = 5

// Call makes a unary call of gRPC: method is /package.Service/Method, and message and answer are
// protobuf.
func (c *Client) Call(ctx context.Context, method string, message []byte) ([]byte, error) {
	body := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))
	answer, resp, err := c.post(ctx, method, "application/grpc", append(body, message...), true)
	if err != nil {
		return nil, err
	}
	// A call that fails at once has its outcome in the header.
	outcome := resp.Trailer
	if resp.Header.Get("Grpc-Status") != "" {
		outcome = resp.Header
	}
	code, err := strconv.Atoi(outcome.Get("Grpc-Status"))
	if err != nil {
		return nil, &StatusError{c.Host, http.StatusNotFound, "no outcome of a call of gRPC"}
	}
	if code != 0 {
		said, err := url.PathUnescape(outcome.Get("Grpc-Message"))
		if err != nil {
			said = outcome.Get("Grpc-Message")
		}
		return nil, &StatusError{c.Host, statusOf(code), line(said)}
	}
	switch {
	case len(answer) < frameHead:
		return nil, fmt.Errorf("%s answers with %d bytes, which are no message of gRPC", c.Host, len(answer))
	case answer[0] != 0:
		return nil, fmt.Errorf("%s compresses messages of gRPC without being asked to", c.Host)
	case uint64(binary.BigEndian.Uint32(answer[1:])) != uint64(len(answer)-frameHead):
		return nil, fmt.Errorf("%s announces %d bytes and sends %d", c.Host, binary.BigEndian.Uint32(answer[1:]), len(answer)-frameHead)
	}
	return answer[frameHead:], nil
}

// statusOf is the status of HTTP that is nearest to a code of gRPC (google/rpc/code.proto).
func statusOf(code int) int {
	switch code {
	case 3, 9, 11:
		return http.StatusBadRequest
	case 4:
		return http.StatusGatewayTimeout
	case 5:
		return http.StatusNotFound
	case 7:
		return http.StatusForbidden
	case 8:
		return http.StatusTooManyRequests
	case 12:
		return http.StatusNotImplemented
	case 14:
		return http.StatusServiceUnavailable
	case 16:
		return http.StatusUnauthorized
	}
	return http.StatusInternalServerError
}
