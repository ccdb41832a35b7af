// Package otlp sends the traces of a gateway to a collector, over OTLP/HTTP.
//
//	traces, err := otlp.FromEnvironment(ctx, os.Getenv)
//	g, err := gateway.New(&gateway.Options{Tracer: traces.Provider(), …})
//	defer traces.Close()
//
// It is a package of its own, so that programs which use the gateway or the
// transport without it carry no exporter. What is sent where is told by
// OpenTelemetry's own variables:
//
//	OTEL_EXPORTER_OTLP_ENDPOINT           http://127.0.0.1:4318
//	OTEL_EXPORTER_OTLP_TRACES_ENDPOINT    http://127.0.0.1:4318/v1/traces
//	OTEL_EXPORTER_OTLP_HEADERS            api-key=…
//	OTEL_SERVICE_NAME                     winnow, unless set
//	OTEL_TRACES_SAMPLER                   parentbased_always_on, unless set
//	OTEL_TRACES_EXPORTER=none, OTEL_SDK_DISABLED=true   nothing is sent
//
// and by the others that the exporter documents.
package otlp

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Traces sends traces. Nil is allowed and sends none.
type Traces struct{ provider *sdk.TracerProvider }

// FromEnvironment returns what the environment asks for; nil where it names no
// collector. The exporter reads the process' environment itself; getenv only
// says whether it is wanted.
func FromEnvironment(ctx context.Context, getenv func(string) string) (*Traces, error) {
	if getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" {
		return nil, nil
	}
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") || strings.EqualFold(getenv("OTEL_TRACES_EXPORTER"), "none") {
		return nil, nil
	}
	name, protocol := "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
	if protocol == "" {
		name, protocol = "OTEL_EXPORTER_OTLP_PROTOCOL", getenv("OTEL_EXPORTER_OTLP_PROTOCOL")
	}
	if protocol != "" && protocol != "http/protobuf" {
		return nil, fmt.Errorf("otlp: %s=%s is not supported; set OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf and use the collector's HTTP port (4318 for most), or OTEL_TRACES_EXPORTER=none", name, protocol)
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("otlp: traces cannot be sent: %w; check OTEL_EXPORTER_OTLP_ENDPOINT", err)
	}
	service := cmp.Or(getenv("OTEL_SERVICE_NAME"), "winnow")
	about, err := resource.Merge(resource.Default(), resource.NewSchemaless(attribute.String("service.name", service)))
	if err != nil {
		about = resource.NewSchemaless(attribute.String("service.name", service))
	}
	return &Traces{sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about))}, nil
}

// Provider makes the tracers; nil for nil.
func (t *Traces) Provider() trace.TracerProvider {
	if t == nil {
		return nil
	}
	return t.provider
}

// goodbye is how long Close tries to send what is left.
const goodbye = 5 * time.Second

// Close sends what is left, as long as that takes a few seconds at most.
func (t *Traces) Close() error {
	if t == nil {
		return nil
	}
	ctx, stop := context.WithTimeout(context.Background(), goodbye)
	defer stop()
	return t.provider.Shutdown(ctx)
}
