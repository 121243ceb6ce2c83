import { randomBytes } from "node:crypto";
import type { Stack } from "@harrier/stack";
import { type CollectedSpan, type Collector, createDevice, eventually, type Kafka, startCollector, startKafka } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type EventLog, followEvents } from "./support/events.ts";
import { adminOf, allowTargetTokens } from "./support/replicas.ts";
import { startAnsweringStack } from "./support/serving.ts";

// A real collector gets the trace of a request through all that it passes: gateway, services, statements, Kafka (ADR 42).

let kafka: Kafka;
let collector: Collector;
let stack: Stack;
let events: EventLog;

beforeAll(async () => {
  [kafka, collector] = await Promise.all([startKafka(), startCollector()]);
  stack = await startAnsweringStack({ kafkaBrokers: kafka.brokers, otlpUrl: collector.url });
  await allowTargetTokens(stack);
  events = await followEvents(kafka.brokers);
});
afterAll(async () => {
  await events?.stop();
  await stack?.stop();
  await collector?.stop();
  await kafka?.stop();
});

const server = 2;
const client = 3;
const producer = 4;

const newTrace = (flags: "00" | "01") => {
  const traceId = randomBytes(16).toString("hex");
  return { traceId, traceparent: `00-${traceId}-${randomBytes(8).toString("hex")}-${flags}` };
};
const of = (traceId: string): CollectedSpan[] => collector.spans().filter((span) => span.traceId === traceId);

test("one assignment is one trace over gateway, management, controller, their statements and Kafka", async () => {
  const api = adminOf(stack);
  const { set } = await api.createSetWithFile();
  const { controllerId } = await api.createTarget();
  // The client says that it does not record: that is its own matter.
  const { traceId, traceparent } = newTrace("00");
  const answer = await api.call(`targets/${controllerId}/assignedDS`, {
    method: "POST",
    body: [{ id: set.id }],
    headers: { traceparent, "x-request-id": "traced-assignment" },
  });
  expect(answer.status).toBe(200);
  await eventually(() => expect(of(traceId).some(({ kind }) => kind === producer)).toBe(true), 20_000);
  await eventually(() => {
    const spans = of(traceId);
    const parentOf = (span: CollectedSpan | undefined) => spans.find(({ spanId }) => spanId === span?.parentSpanId);
    const find = (service: string, kind: number, name: RegExp) =>
      spans.find((span) => span.service === service && span.kind === kind && name.test(span.name));

    const edge = find("gateway", server, /assignedDS/);
    expect(edge?.parentSpanId).toBe(traceparent.slice(36, 52));
    expect(edge?.attributes).toMatchObject({ "http.response.status_code": "200", "harrier.request_id": "traced-assignment" });
    const served = find("management", server, /^POST .*assignedDS/);
    expect(parentOf(served)).toBe(edge);
    const called = find("management", client, /ActionsService\/assign/i);
    expect(parentOf(called)).toBe(served);
    const handled = find("controller", server, /ActionsService\/assign/i);
    expect(parentOf(handled)).toBe(called);
    expect(handled?.attributes["harrier.request_id"]).toBe("traced-assignment");
    const statement = spans.find((span) => span.service === "controller" && span.attributes["db.system.name"] === "postgresql");
    expect(parentOf(statement)).toBe(handled);
    const sent = find("controller", producer, /^send action-events$/);
    expect(parentOf(sent)).toBe(handled);
    // The message names the sending itself, and its event the change.
    const told = events.kept().find(({ subject }) => subject.startsWith(`targets/${controllerId}/actions/`));
    expect(told?.headers["traceparent"]).toBe(`00-${traceId}-${sent?.spanId}-01`);
    expect(told?.traceparent).toBe(`00-${traceId}-${handled?.spanId}-01`);
    for (const span of spans) expect(span.end >= span.start).toBe(true);
    // No span knows a value: statements are shown by name, or as text with parameters.
    expect(JSON.stringify(spans, (_, value) => (typeof value === "bigint" ? String(value) : value))).not.toContain(controllerId);
  }, 20_000);
});

test("a refused request is a trace too, and no failure of the server", async () => {
  const { traceId, traceparent } = newTrace("01");
  const answer = await adminOf(stack).call(`targets/nobody-of-this-name/assignedDS`, {
    method: "POST",
    body: [{ id: 999_999_999 }],
    headers: { traceparent },
  });
  expect(answer.status).toBe(404);
  await eventually(() => {
    const edge = of(traceId).find(({ service, kind }) => service === "gateway" && kind === server);
    expect(edge?.attributes["http.response.status_code"]).toBe("404");
    expect(edge?.failed).toBe(false);
    const served = of(traceId).find(({ service, kind }) => service === "management" && kind === server);
    expect(served?.attributes["harrier.code"]).toBeTruthy();
  }, 20_000);
});

test("a report of a device is a trace through controller, and its event comes behind it", async () => {
  const api = adminOf(stack);
  const { set } = await api.createSetWithFile();
  const { controllerId, securityToken } = await api.createTarget();
  const action = await api.assign(controllerId, set.id);
  const { traceId, traceparent } = newTrace("00");
  const device = createDevice({ baseUrl: stack.baseUrl, controllerId, token: securityToken });
  const report = await device.call(`/deploymentBase/${action}/feedback`, {
    method: "POST",
    headers: { traceparent },
    body: { status: { execution: "closed", result: { finished: "success" } } },
  });
  expect(report.status).toBe(200);
  await eventually(() => {
    const services = new Set(of(traceId).map(({ service, kind }) => `${service} ${kind}`));
    expect(services).toContain(`gateway ${server}`);
    expect(services).toContain(`controller ${server}`);
    expect(services).toContain(`controller ${producer}`);
  }, 20_000);
});
