import { AsyncLocalStorage } from "node:async_hooks";
import { type Context, isSpanContextValid, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, TraceFlags, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from "@opentelemetry/sdk-trace";
import type { Attributes, TracedSpan, Tracer, TracingOptions } from "./tracing.ts";

/** At most so many spans wait to be sent; those that come when so many wait are dropped. */
const maxWaiting = 4_096;
/** The spans of a process that ends are sent within this time, or are lost: the end does not wait for a collector. */
const stopWithinMs = 1_500;
/** A collector that does not answer within this time has not taken the spans. */
const answerWithinMs = 5_000;
const sendEveryMs = 1_000;

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, producer: SpanKind.PRODUCER } as const;
const tracesPath = "/v1/traces";

/** Makes the tracer of a process, which sends its spans to a collector in the background. */
export function createTracer(options: TracingOptions): { tracer: Tracer; stop(): Promise<void> } {
  const exporter = new OTLPTraceExporter({ url: tracesUrl(options.url), timeoutMillis: answerWithinMs });
  return tracerOver(telling(exporter, options.log), options);
}

/** Answers the address of traces; operators give it whole, or, as OpenTelemetry's own settings have it, the collector's alone. */
export function tracesUrl(given: string): string {
  const url = new URL(given);
  if (!url.pathname.endsWith(tracesPath)) url.pathname = url.pathname.replace(/\/+$/, "") + tracesPath;
  return url.href;
}

/** The tracer over any exporter; tests keep the spans. */
export function tracerOver(
  exporter: SpanExporter,
  options: Pick<TracingOptions, "service" | "resource">,
): { tracer: Tracer; stop(): Promise<void> } {
  const resource = defaultResource().merge(
    resourceFromAttributes({ "service.namespace": "harrier", "service.name": options.service, ...options.resource }),
  );
  const processor = new BatchSpanProcessor({
    exporter,
    maxQueueSize: maxWaiting,
    scheduledDelayMillis: sendEveryMs,
    exportTimeoutMillis: answerWithinMs + 1_000,
  });
  const provider = new TracerProvider({ resource, spanProcessors: [processor] });
  const own = provider.getTracer("harrier");
  const running = new AsyncLocalStorage<Context>();

  const traced = (span: Span, parent: Context): TracedSpan => {
    const { traceId, spanId } = span.spanContext();
    return {
      traceparent: `00-${traceId}-${spanId}-01`,
      run: (work) => running.run(trace.setSpan(parent, span), work),
      end(attributes, failure) {
        if (attributes !== undefined) span.setAttributes(attributes);
        if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute("error.type", failure);
        span.end();
      },
    };
  };
  const begin = (name: string, kind: SpanKind, parent: Context, attributes: Attributes | undefined): TracedSpan =>
    traced(own.startSpan(name, attributes === undefined ? { kind } : { kind, attributes }, parent), parent);

  const tracer: Tracer = {
    root({ name, given, share, attributes }) {
      if (Math.random() >= share) return undefined;
      return begin(name, SpanKind.SERVER, contextOf(given, TraceFlags.SAMPLED) ?? ROOT_CONTEXT, attributes);
    },
    begin({ name, kind, parent, attributes }) {
      const context = contextOf(parent);
      return context === undefined ? undefined : begin(name, kinds[kind], context, attributes);
    },
    child(name, attributes) {
      const context = running.getStore();
      return context === undefined ? undefined : begin(name, SpanKind.CLIENT, context, attributes);
    },
  };
  return {
    tracer,
    async stop() {
      await Promise.race([provider.shutdown().catch(() => undefined), new Promise((resolve) => setTimeout(resolve, stopWithinMs).unref())]);
    },
  };
}

/** Answers the context of a traceparent that is recorded, or is taken as recorded; otherwise undefined. */
function contextOf(traceparent: string | undefined, flags?: TraceFlags): Context | undefined {
  if (traceparent === undefined) return undefined;
  const [, traceId = "", spanId = "", given = "00"] = traceparent.split("-");
  const traceFlags = flags ?? Number.parseInt(given, 16);
  const spanContext = { traceId, spanId, traceFlags, isRemote: true };
  if ((traceFlags & TraceFlags.SAMPLED) === 0 || !isSpanContextValid(spanContext)) return undefined;
  return trace.setSpanContext(ROOT_CONTEXT, spanContext);
}

/** Tells once of an outage of the collector that spans are lost, and once that it is over. */
function telling(exporter: SpanExporter, log: TracingOptions["log"]): SpanExporter {
  let lost = 0;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.error === undefined) {
          if (lost > 0) log.info({ spans: lost }, "the collector takes spans again; these were lost");
          lost = 0;
        } else {
          if (lost === 0) log.warn({ err: result.error }, "the collector does not take spans");
          lost += spans.length;
        }
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}
