export {
  type Attributes,
  type Root,
  type SpanStart,
  startTracing,
  type TracedSpan,
  type Tracer,
  type TracingOptions,
  tracer,
} from "./tracing.ts";
