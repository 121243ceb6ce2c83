import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { cutWhenStillSending } from "./still-sending.ts";

const afterMs = 200;
const ends: (() => void)[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const end of ends.splice(0)) end();
});

/** Makes a client that has sent half of its body, and has its answer. */
async function answeredEarly(): Promise<{ client: Socket; req: IncomingMessage }> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.on("error", () => undefined);
  ends.push(() => {
    client.destroy();
    server.close();
  });
  client.write("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nab");
  const [req, res] = await once(server, "request");
  req.resume();
  res.end();
  await once(client, "data");
  return { client, req };
}

test("a client that goes on sending is cut", async () => {
  const { client, req } = await answeredEarly();
  cutWhenStillSending(req, afterMs);
  await once(client, "close");
  expect(req.complete).toBe(false);
});

test.each([
  ["hangs up", (client: Socket) => client.destroy()],
  ["ends what it sends", (client: Socket) => client.write("cd")],
])("nothing is kept for a client that %s", async (_, act) => {
  const { client, req } = await answeredEarly();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  cutWhenStillSending(req, afterMs);
  expect(vi.getTimerCount()).toBe(1);
  const over = new Promise((resolve) =>
    req
      .on("end", resolve)
      .on("error", () => undefined)
      .socket.on("close", resolve),
  );
  act(client);
  await over;
  expect(vi.getTimerCount()).toBe(0);
});
