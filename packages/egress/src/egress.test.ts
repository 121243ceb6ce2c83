import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { isPublic, parseAllowed } from "./allowed.ts";
import { checkUrl, createEgress, EgressError } from "./egress.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

const limits = { tenant: "T", timeoutMs: 2_000, maxBytes: 100 };
const failureOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "none",
    (error: unknown) => (error instanceof EgressError ? error.failure : String(error)),
  );

test.each([
  ["8.8.8.8", true],
  ["2606:4700::1111", true],
  ["127.0.0.1", false],
  ["10.1.2.3", false],
  ["172.31.0.1", false],
  ["192.168.0.1", false],
  ["169.254.169.254", false],
  ["100.64.0.1", false],
  ["0.0.0.0", false],
  ["224.0.0.1", false],
  ["255.255.255.255", false],
  ["::1", false],
  ["::", false],
  ["::ffff:8.8.8.8", false],
  ["::ffff:10.0.0.1", false],
  ["fe80::1", false],
  ["fd00:ec2::254", false],
  ["ff02::1", false],
  ["64:ff9b::a00:1", false],
  ["2002:a00:1::", false],
  ["2001:db8::1", false],
  ["localhost", false],
])("%s is public: %s", (address, yes) => {
  expect(isPublic(address)).toBe(yes);
});

test.each([
  "https://127.0.0.1/",
  "https://[::1]/",
  "https://2130706433/",
  "https://0x7f.1/",
  "https://0177.0.0.1/",
  "https://[::ffff:127.0.0.1]/",
])("an address of our own network is refused in every spelling: %s", async (url) => {
  expect(() => checkUrl(url, "T", parseAllowed())).toThrow(EgressError);
  expect(await failureOf(createEgress({ allowed: parseAllowed() }).request({ ...limits, url }))).toBe("refused");
});

test.each(["ftp://example.com/", "file:///etc/passwd", "nonsense", "https://user:secret@example.com/"])(
  "what is no address is refused: %s",
  async (url) => {
    expect(await failureOf(createEgress({ allowed: parseAllowed() }).request({ ...limits, url }))).toBe("address");
  },
);

test("a name that leads to our own network is refused before anything is connected, and only what was checked is connected to", async () => {
  let calls = 0;
  const port = await serve((_req, res) => {
    calls += 1;
    res.end("ok");
  });
  const inside = createEgress({ allowed: parseAllowed(), resolve: async () => [{ address: "127.0.0.1", family: 4 }] });
  expect(await failureOf(inside.request({ ...limits, url: `https://rebind.example:${port}/` }))).toBe("refused");
  expect(calls).toBe(0);
  let asked = 0;
  const rebinding = createEgress({
    allowed: parseAllowed("T@127.0.0.1"),
    // the second answer would be another one
    resolve: async () => {
      asked += 1;
      return [{ address: asked === 1 ? "127.0.0.1" : "127.0.0.2", family: 4 }];
    },
  });
  expect((await rebinding.request({ ...limits, url: `http://rebind.example:${port}/` })).status).toBe(200);
  expect([asked, calls]).toEqual([1, 1]);
});

test("what the operator allows holds for the tenant that it names, and without TLS only there", async () => {
  const port = await serve((_req, res) => res.end("ok"));
  const url = `http://127.0.0.1:${port}/`;
  const answers = (allow: string) => failureOf(createEgress({ allowed: parseAllowed(allow) }).request({ ...limits, url }));
  expect(await answers("T@127.0.0.0/8")).toBe("none");
  expect(await answers(`*@127.0.0.1:${port}`)).toBe("none");
  expect(await answers("U@127.0.0.0/8")).toBe("refused");
  expect(await answers(`*@127.0.0.1:${port + 1}`)).toBe("refused");
  expect(
    await failureOf(
      createEgress({ allowed: parseAllowed(), resolve: async () => [{ address: "8.8.8.8", family: 4 }] }).request({
        ...limits,
        url: "http://example.com/",
      }),
    ),
  ).toBe("refused");
  for (const wrong of ["10.0.0.0/8", "T@", "T@10.0.0.0/33", "T@host"]) expect(() => parseAllowed(wrong)).toThrow(wrong);
});

test("a redirection is not followed", async () => {
  const port = await serve((req, res) => {
    res.writeHead(req.url === "/" ? 302 : 200, { location: "/elsewhere" }).end();
  });
  const egress = createEgress({ allowed: parseAllowed("T@127.0.0.1") });
  expect((await egress.request({ ...limits, url: `http://127.0.0.1:${port}/` })).status).toBe(302);
});

test("an answer without end is cut at its bytes, one that never comes or never ends at its time", async () => {
  const port = await serve((req, res) => {
    if (req.url === "/silent") return;
    res.writeHead(200);
    if (req.url === "/slow") res.write("x");
    else {
      const more = (): void => {
        if (!res.destroyed && res.write("x".repeat(65_536))) setImmediate(more);
        else res.once("drain", more);
      };
      more();
    }
  });
  const egress = createEgress({ allowed: parseAllowed("T@127.0.0.1") });
  const call = (path: string) => egress.request({ ...limits, timeoutMs: 300, url: `http://127.0.0.1:${port}${path}` });
  const endless = await call("/endless");
  expect([endless.status, endless.body.length, endless.truncated]).toEqual([200, 100, true]);
  expect(await failureOf(call("/silent"))).toBe("timeout");
  expect(await failureOf(call("/slow"))).toBe("timeout");
  expect(await failureOf(egress.request({ ...limits, url: "http://127.0.0.1:1/" }))).toBe("network");
  const stuck = createEgress({ allowed: parseAllowed(), resolve: () => new Promise(() => {}) });
  expect(await failureOf(stuck.request({ ...limits, timeoutMs: 50, url: "https://example.com/" }))).toBe("timeout");
});
