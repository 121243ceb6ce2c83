import { describe, expect, it } from "vitest";
import { parseMessage, type RawMessage, RefusedMessage } from "./parse-message.ts";

const json = "application/json";
const message = (headers: Record<string, unknown>, body?: unknown, properties: object = {}): RawMessage => ({
  content: Buffer.from(body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body)),
  properties: { contentType: json, headers: { tenant: "DEFAULT", ...headers }, ...properties },
});
const parse = (headers: Record<string, unknown>, body?: unknown, properties?: object) =>
  parseMessage(message(headers, body, properties), "DEFAULT");
const status = { type: "EVENT", topic: "UPDATE_ACTION_STATUS" };

describe("a message of a thing", () => {
  it.each([
    ["an empty body", undefined],
    ["a text that is empty", '""'],
  ])("registers with %s", (_name, body) => {
    const got = parse({ type: "THING_CREATED", thingId: "t" }, body, { replyTo: "r", contentType: undefined });
    expect(got).toMatchObject({ kind: "registration", thingId: "t", replyTo: "r" });
  });

  it("takes one message without a list, digits as an id, numbers and flags as values of attributes, and null as absent", () => {
    expect(parse(status, { actionId: "47", actionStatus: "FINISHED", message: "one", code: null, timestamp: null })).toEqual({
      kind: "status",
      actionId: 47,
      status: "FINISHED",
      messages: ["one"],
    });
    const attributes = { a: 1, b: true, c: "d", e: null };
    expect(parse({ type: "EVENT", topic: "UPDATE_ATTRIBUTES", thingId: "t" }, { attributes, mode: null })).toMatchObject({
      attributes: { attributes: { a: "1", b: "true", c: "d", e: null }, mode: "merge" },
    });
  });

  it("takes characters that are written by their escape, and a text that shows an escape", () => {
    const attributes = `{"attributes": {"a": "\\ud83d\\ude00", "b": "\\\\u0000"}}`;
    expect(parse({ type: "EVENT", topic: "UPDATE_ATTRIBUTES", thingId: "t" }, attributes)).toMatchObject({
      attributes: { attributes: { a: "\u{1f600}", b: "\\u0000" } },
    });
  });

  it("adds the correlation id to the messages of a status", () => {
    const got = parse(status, { actionId: 1, actionStatus: "RUNNING", message: [] }, { correlationId: "c-1" });
    expect(got).toMatchObject({ messages: ["Update Server: DMF message correlation-id c-1"] });
  });

  it("compares the tenant without case, and ignores a ping without a correlation id", () => {
    expect(parse({ type: "PING", tenant: "default" }, undefined, { replyTo: "r" })).toEqual({ kind: "ignored" });
  });

  it.each(["amq.rabbitmq.trace", "amq.direct", "dmf.exchange", "sie.exchange"])("refuses %s as a reply exchange", (replyTo) => {
    for (const headers of [{ type: "THING_CREATED", thingId: "t" }, { type: "PING" }])
      expect(() => parse(headers, undefined, { replyTo, correlationId: "c" })).toThrow("an exchange of the broker");
  });

  it.each<[string, RawMessage]>([
    ["too-large", message(status, "x".repeat(1024 * 1024 + 1))],
    ["headers", message(status, "", { headers: undefined, unreadable: true })],
    ["missing-type", message({})],
    ["missing-type", message({ type: 7 })],
    ["unknown-type", message({ type: "thing_created" })],
    ["tenant", message({ type: "PING", tenant: undefined })],
    ["tenant", message({ type: "PING", tenant: "OTHER" })],
    ["missing-thing", message({ type: "THING_REMOVED" })],
    ["missing-thing", message({ type: "THING_REMOVED", thingId: "x".repeat(257) })],
    ["missing-topic", message({ type: "EVENT" })],
    ["unknown-topic", message({ type: "EVENT", topic: "DOWNLOAD" })],
    ["missing-reply-to", message({ type: "THING_CREATED", thingId: "t" })],
    ["missing-reply-to", message({ type: "PING" }, undefined, { correlationId: "c" })],
    ["content-type", message(status, {}, { contentType: "text/plain" })],
    ["body", message(status, "{")],
    ["body", message(status, "null")],
    ["body", message(status, { actionId: 1.5, actionStatus: "RUNNING" })],
    ["body", message(status, { actionId: 1, actionStatus: "running" })],
    ["body", message(status, { actionId: 1, actionStatus: null })],
    ["body", message(status, { actionId: 1, actionStatus: "RUNNING", message: ["a\u0000b"] })],
    ["body", message(status, { actionId: 1, actionStatus: "RUNNING", message: ["\ud800"] })],
    ["body", message(status, `{"actionId": ${"[".repeat(500_000)}`)],
    ["body", message(status, `{"actionId": ${"[".repeat(250_000)}${"]".repeat(250_000)}, "actionStatus": "RUNNING"}`)],
    ["body", message(status, `{"actionId": ${"[".repeat(250_000)}"\\ud83d\\ude00"${"]".repeat(250_000)}, "actionStatus": "RUNNING"}`)],
    ["body", message({ type: "EVENT", topic: "UPDATE_ATTRIBUTES", thingId: "t" }, { attributes: { "a\u0000": "b" } })],
    ["body", message({ type: "EVENT", topic: "UPDATE_ATTRIBUTES", thingId: "t" }, { attributes: { a: "\udc00" } })],
    ["body", message(status, { actionId: 1, actionStatus: "RUNNING", message: [1] })],
    ["missing-type", message({ type: { type: "EVENT" } })],
    ["missing-type", message({ type: ["EVENT"] })],
    ["tenant", message({ type: "PING", tenant: 1 })],
    ["missing-topic", message({ type: "EVENT", topic: true })],
    ["missing-thing", message({ type: "THING_REMOVED", thingId: 7 })],
    ["missing-thing", message({ type: "THING_REMOVED", thingId: { "!": "timestamp", value: 1 } })],
    ["missing-thing", message({ type: "THING_REMOVED", thingId: Buffer.from("t") })],
    ["body", message(status, { actionId: 1, actionStatus: "RUNNING" }, { correlationId: "c" })],
    ["body", message(status, { actionId: 1, actionStatus: "RUNNING", message: [] }, { correlationId: "a\u0000b" })],
    ["body", message({ type: "EVENT", topic: "UPDATE_AUTO_CONFIRM", thingId: "t" }, { enabled: "yes" })],
  ])("is refused as %s", (kind, raw) => {
    const refusal = (() => {
      try {
        return parseMessage(raw, "DEFAULT");
      } catch (error) {
        return error;
      }
    })();
    expect(refusal).toBeInstanceOf(RefusedMessage);
    expect((refusal as RefusedMessage).kind).toBe(kind);
  });

  it("says which member is wrong, and not how a thing calls its attributes", () => {
    const attributeUpdate = { attributes: { "secret-name": [] } };
    expect(() => parse({ type: "THING_CREATED", thingId: "t" }, { attributeUpdate }, { replyTo: "r" })).toThrow(
      /^attributeUpdate\.attributes: (?!.*secret-name)/,
    );
  });

  it("has a reason that every receiver can read, wherever it was cut", () => {
    expect(new RefusedMessage("denied", `${"x".repeat(299)}\u{1f600}`).message).toBe(`${"x".repeat(299)}\ufffd`);
  });

  it("is refused where its bytes are no UTF-8", () => {
    const raw = { ...message(status), content: Buffer.from([0x7b, 0xff, 0x7d]) };
    expect(() => parseMessage(raw, "DEFAULT")).toThrow(RefusedMessage);
  });
});
