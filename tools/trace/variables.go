package trace

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
)

// The libraries read the variables of OpenTelemetry's specification themselves, but not those that turn the export off,
// and they ignore what they do not understand: it is refused here.
const (
	prefix = "OTEL_EXPORTER_OTLP_"
	traces = "TRACES_" // of the variables for traces, which precede those for all signals
)

// kinds of values, with what a message says of them.
const (
	millis   = "a number of milliseconds"
	positive = "a number greater than 0"
	limit    = "a number, 0 or greater"
	boolean  = "true or false"
)

var (
	ratioed  = []string{"traceidratio", "parentbased_traceidratio"}
	samplers = append([]string{"always_on", "always_off", "parentbased_always_on", "parentbased_always_off"}, ratioed...)
)

// numbers are the variables with a number.
var numbers = map[string]string{
	"OTEL_BSP_SCHEDULE_DELAY": millis, "OTEL_BSP_EXPORT_TIMEOUT": millis, "OTEL_BSP_MAX_QUEUE_SIZE": positive,
	"OTEL_BSP_MAX_EXPORT_BATCH_SIZE":    positive,
	"OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT": limit, "OTEL_ATTRIBUTE_COUNT_LIMIT": limit,
	"OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT": limit, "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": limit,
}

// disabledBy returns the variable, with its value, that turns the export off, "" if none does.
func disabledBy(getenv func(string) string) (string, error) {
	const sdk, exporter = "OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER"
	if err := oneOf(sdk, getenv(sdk), boolean, "true", "false"); err != nil {
		return "", err
	}
	if err := oneOf(exporter, getenv(exporter), "otlp or none; --json prints spans", "otlp", "none"); err != nil {
		return "", err
	}
	switch {
	case strings.EqualFold(getenv(sdk), "true"):
		return sdk + "=" + getenv(sdk), nil
	case strings.EqualFold(getenv(exporter), "none"):
		return exporter + "=" + getenv(exporter), nil
	}
	return "", nil
}

// optionsOf checks the variables, and returns what the exporter does not take from the environment as the specification
// has it: its default is https.
func optionsOf(getenv func(string) string) ([]otlptracehttp.Option, error) {
	if err := errors.Join(exporterChecks(getenv), sdkChecks(getenv)); err != nil {
		return nil, err
	}
	if _, text := ofTraces(getenv, "ENDPOINT"); text != "" {
		return nil, nil
	}
	return []otlptracehttp.Option{otlptracehttp.WithEndpointURL("http://localhost:4318/v1/traces")}, nil
}

// ofTraces returns the variable of the exporter that counts for traces, and its value.
func ofTraces(getenv func(string) string, name string) (variable, value string) {
	if v := strings.TrimSpace(getenv(prefix + traces + name)); v != "" {
		return prefix + traces + name, v
	}
	return prefix + name, strings.TrimSpace(getenv(prefix + name))
}

// exporterChecks refuses values of the exporter's variables.
func exporterChecks(getenv func(string) string) error {
	check := func(name, kind string, supported ...string) error {
		variable, value := ofTraces(getenv, name)
		return oneOf(variable, value, kind, supported...)
	}
	timeout, text := ofTraces(getenv, "TIMEOUT")
	return errors.Join(
		protocol(ofTraces(getenv, "PROTOCOL")), endpoint(ofTraces(getenv, "ENDPOINT")), headers(ofTraces(getenv, "HEADERS")),
		check("COMPRESSION", "gzip or none", "gzip", "none"), check("INSECURE", boolean, "true", "false"),
		number(timeout, text, millis), certificates(getenv))
}

// sdkChecks refuses values of the variables that all exporters share.
func sdkChecks(getenv func(string) string) (err error) {
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		err = errors.Join(err, number(name, getenv(name), numbers[name]))
	}
	const queue, batch = "OTEL_BSP_MAX_QUEUE_SIZE", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE"
	q, _ := strconv.Atoi(getenv(queue))
	b, _ := strconv.Atoi(getenv(batch))
	if q > 0 && b > q {
		err = errors.Join(err, fmt.Errorf("%s=%d is greater than %s=%d", batch, b, queue, q))
	}
	return errors.Join(err, sampler(getenv))
}

func unsupported(variable, value, kind string) error {
	return fmt.Errorf("%s=%s is not supported: it is %s", variable, value, kind)
}

// oneOf refuses a value that is none of those supported, in letters of any case.
func oneOf(variable, value, kind string, supported ...string) error {
	if value == "" || slices.ContainsFunc(supported, func(s string) bool { return strings.EqualFold(s, value) }) {
		return nil
	}
	return unsupported(variable, value, kind)
}

// number refuses a value that is no number of a kind.
func number(variable, value, kind string) error {
	n, err := strconv.Atoi(value)
	if value == "" || err == nil && (n > 0 || n == 0 && kind != positive) {
		return nil
	}
	return unsupported(variable, value, kind)
}

func protocol(variable, value string) error {
	if value == "" || value == "http/protobuf" {
		return nil
	}
	return fmt.Errorf("%s=%s is not supported: spans are sent by http/protobuf", variable, value)
}

func endpoint(variable, value string) error {
	if u, err := url.Parse(value); value != "" &&
		(err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("%s=%s is not the URL of a collector, as http://localhost:4318", variable, value)
	}
	return nil
}

// headers refuses what is no list of headers, without its text: it may be a secret.
func headers(variable, value string) error {
	for pair := range strings.SplitSeq(value, ",") {
		if name, _, is := strings.Cut(pair, "="); value != "" && (!is || strings.TrimSpace(name) == "") {
			return fmt.Errorf("%s is not supported: it is a list of NAME=VALUE", variable)
		}
	}
	return nil
}

// certificates refuses files that cannot be used.
func certificates(getenv func(string) string) error {
	if variable, file := ofTraces(getenv, "CERTIFICATE"); file != "" {
		text, err := os.ReadFile(file)
		if err == nil && !x509.NewCertPool().AppendCertsFromPEM(text) {
			err = errors.New(file + " has no certificate in PEM")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", variable, err)
		}
	}
	variable, cert := ofTraces(getenv, "CLIENT_CERTIFICATE")
	other, key := ofTraces(getenv, "CLIENT_KEY")
	if (cert == "") != (key == "") {
		return fmt.Errorf("%s and %s go together", variable, other)
	}
	if cert == "" {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(cert, key); err != nil {
		return fmt.Errorf("%s, %s: %w", variable, other, err)
	}
	return nil
}

func sampler(getenv func(string) string) error {
	const name, arg = "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"
	value, ratio := strings.ToLower(strings.TrimSpace(getenv(name))), strings.TrimSpace(getenv(arg))
	last := len(samplers) - 1
	if err := oneOf(name, value, strings.Join(samplers[:last], ", ")+" or "+samplers[last], samplers...); err != nil {
		return err
	}
	if f, err := strconv.ParseFloat(ratio, 64); ratio != "" && slices.Contains(ratioed, value) &&
		(err != nil || !(f >= 0 && f <= 1)) {
		return unsupported(arg, ratio, "a ratio from 0 to 1")
	}
	return nil
}
