import { expect, test } from "vitest";
import { exchangeOf } from "./compose.ts";

const tenant = { tenantId: 7, tenant: "acme", vhost: "t7" };

test.each([
  ["amqp://t7/replies", "replies"],
  ["amqp://t7/a%2Fb", "a/b"],
])("messages for a thing at %s go to %s", (address, exchange) => expect(exchangeOf(address, tenant)).toBe(exchange));

test.each([
  "amqp://t7/",
  "amqp://t7/a%00b",
  "amqp://t7/x%0A",
  `amqp://t7/${"x".repeat(256)}`,
  "amqp://t7/%ff",
  "amqp://t8/replies",
  "http://t7/replies",
])("a thing at %j gets none", (address) => expect(exchangeOf(address, tenant)).toBeUndefined());

test("a target without an address, and one of a tenant without messaging, gets none", () => {
  expect(exchangeOf(null, tenant)).toBeUndefined();
  expect(exchangeOf("amqp://t7/replies", undefined)).toBeUndefined();
});
