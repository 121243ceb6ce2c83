import { connect } from "node:net";
import { expect, it } from "vitest";
import { unique } from "../support/build.ts";
import { device, report } from "../support/device.ts";
import { baseUrl, credentials } from "../support/http.ts";

/* No HTTP library sends these requests. Whatever one client does to its connection, the others are served. */

const { hostname, port } = new URL(baseUrl);

/** Sends these bytes and resolves with the status line, or "" when the connection is closed without an answer. */
function raw(bytes: string, holdMs = 10_000): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let text = "";
    const end = () => {
      socket.destroy();
      resolve(text.split("\r\n")[0] ?? "");
    };
    socket.setTimeout(holdMs, end);
    socket.on("data", (chunk) => {
      text = (text + chunk).replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, "");
      if (text.includes("\r\n\r\n")) end();
    });
    socket.on("error", end);
    socket.on("close", end);
    socket.write(bytes);
  });
}

const request = (line: string, headers: Record<string, string>, body = ""): string => {
  const all = { host: `${hostname}:${port}`, authorization: credentials.gateway, ...headers };
  return `${line} HTTP/1.1\r\n${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n${body}`;
};

it.each([
  ["Trailer", { trailer: "X" }],
  ["TE", { te: "trailers", connection: "te" }],
  ["Upgrade", { upgrade: "h2c", connection: "upgrade" }],
  ["a Connection that names the identity", { connection: "x-harrier-identity, host, content-length" }],
  ["Proxy-Connection", { "proxy-connection": "keep-alive" }],
])("a poll with %s is a poll", async (_name, headers) => {
  const path = `/DEFAULT/controller/v1/${unique("raw")}`;
  expect(await raw(request(`GET ${path}`, headers))).toBe("HTTP/1.1 200 OK");
});

it.each([
  ["Trailer", { trailer: "X" }],
  ["Expect", { expect: "100-continue" }],
])("attributes with %s are stored", async (_name, headers) => {
  const d = device(unique("raw"));
  await d.poll();
  const body = JSON.stringify({ data: { a: "b" } });
  const all = { "content-type": "application/json", "content-length": String(body.length), ...headers };
  expect(await raw(request(`PUT /DEFAULT/controller/v1/${d.controllerId}/configData`, all, body))).toBe("HTTP/1.1 200 OK");
  expect(await d.linkNames()).toEqual([]);
});

it("hundreds of unfinished bodies do not delay polls", { timeout: 60_000 }, async () => {
  const d = device(unique("slow"));
  await d.poll();
  const headers = { "content-type": "application/json", "content-length": "100000" };
  const sockets = Array.from({ length: 600 }, () => {
    const socket = connect(Number(port), hostname);
    socket.on("error", () => undefined);
    socket.write(request(`PUT /DEFAULT/controller/v1/${d.controllerId}/configData`, headers, "{"));
    return socket;
  });
  try {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const from = performance.now();
    for (let n = 0; n < 20; n++) await d.poll();
    await d.feedbackRefused(1, report("closed", "success"), [404]);
    expect(performance.now() - from).toBeLessThan(5_000);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

it("an address in absolute form is served, a malformed one is 400", async () => {
  const id = unique("raw");
  expect(await raw(request(`GET ${baseUrl}/DEFAULT/controller/v1/${id}`, {}))).toBe("HTTP/1.1 200 OK");
  expect(await raw(request(`GET /DEFAULT/controller/v1/${id}%zz`, {}))).toBe("HTTP/1.1 400 Bad Request");
});
