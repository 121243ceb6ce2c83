/** What a span says of its work: names of OpenTelemetry's semantic conventions, and of ours under `harrier.`. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A piece of work in a trace, which is shown with its times. */
export interface TracedSpan {
  /** It names this span to the next hop, which makes its own spans the children of this one. */
  readonly traceparent: string;
  /** Runs `work`, whose statements become children of this span. */
  run<T>(work: () => T): T;
  /** Ends the span; with `failure`, a code and never a text, it counts as failed. */
  end(attributes?: Attributes, failure?: string): void;
}

export interface SpanStart {
  readonly name: string;
  readonly kind: "server" | "client" | "producer";
  /** The traceparent of the span before. Without one, and with one that is not recorded, there is no span. */
  readonly parent: string | undefined;
  readonly attributes?: Attributes;
}

/** A request that has come from outside. */
export interface Root {
  readonly name: string;
  /** The traceparent of its client, whose trace it goes on. Whether the client records it does not count. */
  readonly given: string | undefined;
  /** The share of such requests that is recorded, 0 to 1. */
  readonly share: number;
  readonly attributes?: Attributes;
}

export interface Tracer {
  /** Begins the first span of a request. It is undefined if the request is not among those that are recorded. */
  root(root: Root): TracedSpan | undefined;
  /** Begins a span behind that of another process, or of an earlier time. */
  begin(start: SpanStart): TracedSpan | undefined;
  /** Begins a span for a call that this process makes while the work of a span runs; undefined outside of one. */
  child(name: string, attributes?: Attributes): TracedSpan | undefined;
}

export interface TracingOptions {
  /** The collector's address for OTLP over HTTP, for instance `http://collector:4318`. */
  readonly url: string;
  readonly service: string;
  /** What else is known of this process. */
  readonly resource?: Attributes;
  /** It is told when the collector does not take spans, and when it does so again. */
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/**
 * The tracer of this process, like the armed fault points one for all of its parts; undefined where tracing is off. Callers write
 * `tracer?.begin({ … })`, which then costs one comparison.
 */
export let tracer: Tracer | undefined;

/** Turns tracing on, and returns what ends it: it sends what waits. The libraries are loaded here, so that they cost nothing where tracing is off. */
export async function startTracing(options: TracingOptions): Promise<() => Promise<void>> {
  const { createTracer } = await import("./sdk.ts");
  const started = createTracer(options);
  tracer = started.tracer;
  return async () => {
    tracer = undefined;
    await started.stop();
  };
}
