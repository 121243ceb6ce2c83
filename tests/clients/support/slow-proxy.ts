import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const stepMs = 100;

/**
 * Passes connections on, with what the server sends at so many bytes a second on each, evenly. The limits of curl are none of that kind: it reads a
 * burst of megabytes, and then nothing for as long as that would have taken.
 */
export async function slowProxy(to: string, bytesPerSecond: number): Promise<{ readonly url: string; stop(): void }> {
  const { hostname, port } = new URL(to);
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(socket);
      socket.on("error", () => other.destroy());
      socket.once("close", () => open.delete(socket));
    }
    client.once("close", () => upstream.destroy());
    client.pipe(upstream);
    void pace(upstream, client, Math.ceil((bytesPerSecond * stepMs) / 1_000)).catch(() => client.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

/** Passes on at most `bytes` in each step, however they come. */
async function pace(from: Socket, to: Socket, bytes: number): Promise<void> {
  let left = bytes;
  for await (const chunk of from as AsyncIterable<Buffer>) {
    for (let at = 0; at < chunk.length; ) {
      if (left === 0) {
        await sleep(stepMs);
        left = bytes;
      }
      const part = chunk.subarray(at, at + left);
      to.write(part);
      at += part.length;
      left -= part.length;
    }
  }
  to.end();
}
