package exchange

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"profdiff/internal/exchange/transport"
	"profdiff/internal/protobuf"
)

// Environment variables of OpenTelemetry's exporters, with headers as NAME=VALUE,NAME=VALUE.
var headerVariables = []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_PROFILES_HEADERS"}

// otlpPath is where a collector takes profiles (OTLP/HTTP, opentelemetry.io/docs/specs/otlp).
func (a *Address) otlpPath() string {
	const path = "/v1development/profiles"
	if a.Service == "" {
		return path
	}
	return "/" + a.Service + path
}

// export sends a message of OTLP. rejected says what the collector did not take.
func (a *Address) export(ctx context.Context, c *transport.Client, message []byte) (rejected string, err error) {
	for _, variable := range headerVariables {
		for pair := range strings.SplitSeq(os.Getenv(variable), ",") {
			name, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
			if !ok {
				continue
			}
			if plain, err := url.QueryUnescape(value); err == nil {
				value = plain
			}
			if strings.ContainsAny(name+value, "\r\n\x00") {
				return "", fmt.Errorf("%s has a header with a line break", variable)
			}
			c.Header.Set(name, value)
		}
	}
	answer, err := c.Post(ctx, a.otlpPath(), "application/x-protobuf", message)
	if err != nil {
		return "", err
	}
	// ExportProfilesServiceResponse: partial_success, with rejected_profiles and error_message.
	var count uint64
	var said string
	var damaged error
	err = protobuf.Each(answer, func(f protowire.Number, body []byte, _ uint64) {
		if f == 1 {
			damaged = protobuf.Each(body, func(f protowire.Number, body []byte, number uint64) {
				switch f {
				case 1:
					count = number
				case 2:
					said = string(body)
				}
			})
		}
	})
	switch {
	case err != nil || damaged != nil:
		return "", fmt.Errorf("%s answers with what is no answer of OTLP", c.Host)
	case count > 0:
		return fmt.Sprintf("%s rejects %d profiles: %s", c.Host, count, said), nil
	}
	return "", nil
}
