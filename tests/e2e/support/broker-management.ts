import type { RabbitMq } from "@harrier/testkit";
import { expect } from "vitest";

/** Asks the broker's management interface, as its administrator. */
export async function manage<T = unknown>(broker: RabbitMq, method: string, path: string, body?: object): Promise<T> {
  const { origin, username, password } = new URL(broker.managementUrl);
  const headers = { authorization: `Basic ${btoa(`${username}:${password}`)}`, "content-type": "application/json" };
  const answer = await fetch(`${origin}/api/${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  expect(answer.ok, `${method} ${path}: ${answer.status}`).toBe(true);
  const text = await answer.text();
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

/** Makes a queue short while `work` runs, as the limit of the installation does at a hundred thousand messages. */
export async function withShortQueue(
  broker: RabbitMq,
  { vhost, name, overflow, maxLength = 3 }: { vhost: string; name: string; overflow: "reject-publish" | "drop-head"; maxLength?: number },
  work: () => Promise<void>,
): Promise<void> {
  const path = `policies/${vhost}/test-short`;
  const pattern = `^${name.replaceAll(".", "\\.")}$`;
  await manage(broker, "PUT", path, { pattern, definition: { "max-length": maxLength, overflow }, priority: 9, "apply-to": "queues" });
  await work().finally(() => manage(broker, "DELETE", path));
}
