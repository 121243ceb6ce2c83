import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { InMemorySpanExporter } from "@opentelemetry/sdk-trace";
import { expect, test } from "vitest";
import { tracerOver, tracesUrl } from "./sdk.ts";
import type { TracedSpan } from "./tracing.ts";

const given = `00-${"a".repeat(32)}-${"b".repeat(16)}-`;

function started() {
  const exporter = new InMemorySpanExporter();
  return { exporter, ...tracerOver(exporter, { service: "test" }) };
}

test("the address may be the collector's or that of its traces", () => {
  expect(tracesUrl("http://collector:4318")).toBe("http://collector:4318/v1/traces");
  expect(tracesUrl("https://collector/otlp/")).toBe("https://collector/otlp/v1/traces");
  expect(tracesUrl("https://collector/v1/traces")).toBe("https://collector/v1/traces");
});

test("a first span goes on the client's trace whatever its flag says, and only a share of them is recorded", () => {
  const { tracer } = started();
  for (const flag of ["00", "01"]) {
    const span = tracer.root({ name: "GET /x", given: given + flag, share: 1 });
    expect(span?.traceparent).toMatch(/^00-a{32}-[0-9a-f]{16}-01$/);
    expect(span?.traceparent).not.toContain("b".repeat(16));
  }
  expect(tracer.root({ name: "GET /x", given: `${given}01`, share: 0 })).toBeUndefined();
  expect(tracer.root({ name: "GET /x", given: undefined, share: 1 })?.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
});

test("a further span exists only behind one that is recorded", () => {
  const { tracer } = started();
  const begin = (parent: string | undefined): TracedSpan | undefined => tracer.begin({ name: "x", kind: "server", parent });
  expect(begin(undefined)).toBeUndefined();
  expect(begin(`${given}00`)).toBeUndefined();
  expect(begin(`00-${"0".repeat(32)}-${"b".repeat(16)}-01`)).toBeUndefined();
  expect(begin("nonsense")).toBeUndefined();
  expect(begin(`${given}01`)?.traceparent).toMatch(/^00-a{32}-/);
});

test("statements are children of the span in whose work they run, also after a wait, and of no other", async () => {
  const { tracer, exporter, stop } = started();
  expect(tracer.child("outside")).toBeUndefined();
  const work = async (name: string): Promise<void> => {
    const span = tracer.root({ name, given: undefined, share: 1 });
    await span?.run(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      tracer.child(`${name} statement`)?.end(undefined, "23505");
    });
    span?.end({ "http.response.status_code": 200 });
  };
  await Promise.all([work("one"), work("two")]);
  expect(tracer.child("afterwards")).toBeUndefined();
  // stopping sends what waits, and empties this exporter
  const sent: { name: string; parent: string | undefined; id: string; error: unknown }[] = [];
  const take = exporter.export.bind(exporter);
  exporter.export = (spans, done) => {
    for (const span of spans) {
      const id = span.spanContext().spanId;
      sent.push({ name: span.name, parent: span.parentSpanContext?.spanId, id, error: span.attributes["error.type"] });
    }
    take(spans, done);
  };
  await stop();
  const idOf = (name: string) => sent.find((span) => span.name === name)?.id;
  for (const name of ["one", "two"])
    expect(sent.find((span) => span.name === `${name} statement`)).toMatchObject({ parent: idOf(name), error: "23505" });
});

test("where tracing is off nothing of OpenTelemetry is loaded", async () => {
  const program = `
    import { registerHooks } from "node:module";
    let loaded = 0;
    registerHooks({ resolve(name, context, next) { if (name.includes("opentelemetry")) loaded += 1; return next(name, context); } });
    const { startTracing, tracer } = await import(${JSON.stringify(new URL("../dist/index.js", import.meta.url).href)});
    const before = loaded;
    const stop = await startTracing({ url: "http://127.0.0.1:9", service: "x", log: { info() {}, warn() {} } });
    console.log(JSON.stringify({ off: tracer === undefined, before, after: loaded > 0 }));
    await stop();`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
  expect(JSON.parse(stdout)).toEqual({ off: true, before: 0, after: true });
});
