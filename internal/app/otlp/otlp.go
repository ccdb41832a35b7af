// Package otlp sends the traces of a gateway to a collector, over OTLP/HTTP.
//
//	traces, end, err := otlp.FromEnvironment(ctx, os.Getenv)
//	g, err := gateway.New(&gateway.Options{Tracer: traces, …})
//	defer end()
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

// goodbye is how long it is tried to send what is left at the end.
const goodbye = 5 * time.Second

// FromEnvironment returns what makes tracers as the environment asks for; nil where it
// names no collector. The exporter reads the process' environment itself; getenv only
// says whether it is wanted. End sends what is left.
func FromEnvironment(ctx context.Context, getenv func(string) string) (tracers trace.TracerProvider, end func() error, err error) {
	end = func() error { return nil }
	if getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" {
		return nil, end, nil
	}
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") || strings.EqualFold(getenv("OTEL_TRACES_EXPORTER"), "none") {
		return nil, end, nil
	}
	name, protocol := "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
	if protocol == "" {
		name, protocol = "OTEL_EXPORTER_OTLP_PROTOCOL", getenv("OTEL_EXPORTER_OTLP_PROTOCOL")
	}
	if protocol != "" && protocol != "http/protobuf" {
		return nil, end, fmt.Errorf("otlp: %s=%s is not supported; set OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf and use the collector's HTTP port (4318 for most), or OTEL_TRACES_EXPORTER=none", name, protocol)
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, end, fmt.Errorf("otlp: traces cannot be sent: %w; check OTEL_EXPORTER_OTLP_ENDPOINT", err)
	}
	service := cmp.Or(getenv("OTEL_SERVICE_NAME"), "winnow")
	about, err := resource.Merge(resource.Default(), resource.NewSchemaless(attribute.String("service.name", service)))
	if err != nil {
		about = resource.NewSchemaless(attribute.String("service.name", service))
	}
	p := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about))
	return p, func() error {
		ctx, stop := context.WithTimeout(context.Background(), goodbye)
		defer stop()
		return p.Shutdown(ctx)
	}, nil
}
