import { connect, type Socket } from "node:net";
import { routeTable as r } from "@harrier/contracts";
import { afterEach, describe, expect, it } from "vitest";
import { unique } from "../support/build.ts";
import { device, report } from "../support/device.ts";
import { baseUrl, send, trustsUs } from "../support/http.ts";
import { eventually, forEach, pause } from "../support/wait.ts";

/* These clients send unwanted, very large or endless requests. Each case watches a client that does none of that. */

const { hostname, port } = new URL(baseUrl);

interface Raw {
  readonly socket: Socket;
  status(): string | undefined;
  readonly closed: Promise<void>;
}

const opened: Socket[] = [];
afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy();
});

function raw(line: string, headers: readonly string[]): Raw {
  const socket = connect(Number(port), hostname);
  opened.push(socket);
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  socket.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  socket.write(`${[`${line} HTTP/1.1`, `host: ${hostname}:${port}`, ...headers].join("\r\n")}\r\n\r\n`);
  return { socket, closed, status: () => /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] };
}

const chunked = "transfer-encoding: chunked";
const chunk = (bytes: number): string => `${bytes.toString(16)}\r\n${"x".repeat(bytes)}\r\n`;

/** This is another client address where forwarded headers are trusted; otherwise every request here has the same address. */
const otherAddress = (n: number): string[] => (trustsUs ? [`x-forwarded-for: 203.0.113.${200 + (n % 8)}`] : []);

it("extensions token: hundreds of long forms of unauthenticated clients are cut off, while every device and client is served", {
  timeout: 120_000,
}, async () => {
  const d = device(unique("calm"));
  const bystanders = async () => {
    await d.poll();
    await d.feedbackRefused(1, report("closed", "success"), [404]);
    // Management answers that there is no such client.
    const requested = await fetch(`${baseUrl}/oauth2/token`, {
      method: "POST",
      body: new URLSearchParams({ grant_type: "client_credentials" }),
    });
    expect(requested.status).toBe(400);
  };
  const attackers = Array.from({ length: 300 }, (_, n) => raw("POST /oauth2/token", [chunked, ...otherAddress(n)]));
  for (let round = 0; round < 16; round += 1) {
    for (const { socket } of attackers) if (socket.writable && socket.writableLength < 200_000) socket.write(chunk(64 * 1024 - 1));
    if (trustsUs) await bystanders();
  }
  // Each request was too long, or was one of too many of its address.
  await expect.poll(() => attackers.filter((one) => one.status() === undefined).length, { timeout: 30_000 }).toBe(0);
  expect(["413", "429"]).toEqual(expect.arrayContaining([...new Set(attackers.map((one) => one.status()))]));
  for (const { socket } of attackers) socket.destroy();
  await eventually(async () => {
    await bystanders();
    return true;
  });
});

it("transport: a client that goes on sending after its answer is cut off, on every path", { timeout: 60_000 }, async () => {
  const lines = ["POST /nothing", "POST /livez", "GET /api/docs/", "POST /readyz", "PUT /oauth2/jwks", "GET /", "POST /rest/v1/nothing"];
  const clients = lines.map((line) => ({ line, ...raw(line, [chunked]) }));
  const sending = setInterval(() => {
    for (const { socket } of clients) if (socket.writable) socket.write(chunk(5));
  }, 100);
  try {
    await expect.poll(() => clients.filter((one) => one.status() === undefined).map(({ line }) => line), { timeout: 20_000 }).toEqual([]);
    const limit = pause(30_000).then(() => "still open");
    const ends = clients.map(async ({ line, closed }) => [line, await Promise.race([closed.then(() => "closed"), limit])]);
    expect(await Promise.all(ends)).toEqual(lines.map((line) => [line, "closed"]));
  } finally {
    clearInterval(sending);
  }
});

it.each([
  ["two Host headers", ["host: other"], "400"],
  ["a transfer coding that nobody undoes", ["transfer-encoding: gzip, chunked"], "400"],
])("transport: %s", async (_name, headers, status) => {
  const one = raw("GET /DEFAULT/controller/v1/nobody", headers);
  await one.closed;
  expect(one.status()).toBe(status);
  expect((await send("/livez", {})).status).toBe(200);
});

it("transport: a header of 70 KB is answered 431, and never by a reset", async () => {
  // The answer comes while the client still sends: only many clients show whether it always arrives.
  const clients = Array.from({ length: 20 }, () => raw("GET /DEFAULT/controller/v1/nobody", [`x-long: ${"x".repeat(70_000)}`]));
  await forEach(clients, ({ closed }) => closed);
  expect(new Set(clients.map((one) => one.status()))).toEqual(new Set(["431"]));
});

describe.runIf(trustsUs)("the byte limit of a device's reports", () => {
  it("device 9.7 a device beyond its byte limit is 429 from any address, while its neighbour can report", async () => {
    const [busy, quiet] = [device(unique("busy")), device(unique("quiet"))];
    await busy.poll();
    await quiet.poll();
    const long = JSON.stringify({ data: { a: "x".repeat(600_000) } });
    const statuses: number[] = [];
    await forEach([1, 2, 3, 4], async (n) => {
      const headers = { "x-forwarded-for": `203.0.113.${n}`, "content-type": "application/json" };
      statuses.push((await busy.ask(r.device.configData, {}, { headers, body: long })).status);
    });
    expect(statuses).toContain(429);
    const answer = await quiet.ask(r.device.configData, {}, { headers: { "x-forwarded-for": "203.0.113.1" }, body: { data: { a: "b" } } });
    expect(answer.status).toBe(200);
    await busy.poll();
  });
});
