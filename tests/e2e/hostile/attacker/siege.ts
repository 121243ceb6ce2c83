import { connect, type Socket } from "node:net";
import type { Attack, Siege, Spoils } from "./attack.ts";

const roundMs = 100;

/** Begins a siege; the returned function ends it. */
export function lay(attack: Attack & Siege, spoils: Spoils): () => void {
  const sockets = new Set<Socket>();
  const began = new Map<Socket, number>();
  let over = false;
  let next = 0;
  /** The number of connections that are open or being opened. */
  let kept = 0;

  function open(): void {
    const n = next++;
    kept += 1;
    spoils.begun += 1;
    const socket = connect({ host: "127.0.0.1", port: attack.port, localAddress: attack.addresses[n % attack.addresses.length] as string });
    socket.on("connect", () => {
      sockets.add(socket);
      began.set(socket, Date.now());
      spoils.maxOpen = Math.max(spoils.maxOpen, sockets.size);
      socket.write(attack.openings[n % attack.openings.length] ?? "", "latin1");
      fill(socket, attack.filler?.times ?? 0);
    });
    let first = true;
    socket.on("data", (data: Buffer) => {
      const status = first ? /^HTTP\/1\.1 (\d{3})/.exec(data.toString("latin1"))?.[1] : undefined;
      first = false;
      if (status === undefined) return;
      spoils.answers[status] = (spoils.answers[status] ?? 0) + 1;
      if (attack.untilAnswered) socket.destroy();
    });
    socket.on("error", () => undefined);
    socket.on("end", () => socket.destroy());
    socket.on("close", () => {
      if (over) return;
      sockets.delete(socket);
      spoils.maxMs = Math.max(spoils.maxMs, Date.now() - (began.get(socket) ?? Date.now()));
      began.delete(socket);
      spoils.cut += 1;
      kept -= 1;
    });
  }

  function fill(socket: Socket, times: number): void {
    for (let left = times; left > 0; left -= 1) {
      if (socket.destroyed) return;
      if (!socket.write(attack.filler?.text ?? "", "latin1")) {
        socket.once("drain", () => fill(socket, left - 1));
        return;
      }
    }
  }

  const { dribble } = attack;
  const dribbling = dribble && setInterval(() => dribbleAll(dribble.text), dribble.everyMs);
  function dribbleAll(text: string): void {
    // A connection that does not accept what it was sent gets no more, or this process would run out of memory.
    for (const socket of sockets) if (socket.writableLength === 0) socket.write(text, "latin1");
  }

  // They are not opened all at once: that would fill the queue of the listening port, which is no attack on the program.
  const opening = setInterval(() => {
    const many = Math.min(attack.connections - kept, Math.ceil((attack.perSecond * roundMs) / 1_000));
    for (let i = 0; i < many; i += 1) open();
  }, roundMs);
  return () => {
    over = true;
    clearInterval(dribbling);
    clearInterval(opening);
    for (const at of began.values()) spoils.maxMs = Math.max(spoils.maxMs, Date.now() - at);
    for (const socket of sockets) socket.destroy();
  };
}
