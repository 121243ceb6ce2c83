import { createSocket, type Socket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { afterEach, expect, it } from "vitest";
import { resolveBy } from "./resolve-name.ts";

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});

/** Starts a name server; it answers a query with the header and question that it got, and what is added here, or never. */
async function nameServer(answer?: (query: Buffer) => Buffer): Promise<Resolver> {
  const socket = createSocket("udp4");
  sockets.push(socket);
  socket.on("message", (query, { port, address }) => {
    if (answer !== undefined) socket.send(answer(query), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  const resolver = new Resolver({ timeout: 5_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return resolver;
}

/** The type of a query stands in its last four bytes, before the class; A is 1. */
const asksForA = (query: Buffer): boolean => query.readUInt16BE(questionEnd(query) - 4) === 1;

/** Additional records may follow the question. */
function questionEnd(query: Buffer): number {
  let at = 12;
  while (query[at] !== 0) at += (query[at] as number) + 1;
  return at + 5;
}

function answerWith(query: Buffer, code: number, address?: readonly number[]): Buffer {
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8180 | code, 2);
  header.writeUInt16BE(address === undefined ? 0 : 1, 6);
  header.writeUInt16BE(0, 10);
  const question = query.subarray(12, questionEnd(query));
  const record = address === undefined ? [] : [0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address];
  return Buffer.concat([header, question, Buffer.from(record)]);
}

it("a name has the addresses that its server gives, of one family or both", async () => {
  const resolver = await nameServer((query) => (asksForA(query) ? answerWith(query, 0, [192, 0, 2, 7]) : answerWith(query, 0)));
  const { signal } = new AbortController();
  expect(await resolveBy(resolver, "a.example", { signal, local: false })).toEqual([{ address: "192.0.2.7", family: 4 }]);
});

it("a name that no server knows is looked up by the host only for those who have named destinations", async () => {
  const resolver = await nameServer((query) => answerWith(query, 3));
  const { signal } = new AbortController();
  await expect(resolveBy(resolver, "localhost", { signal, local: false })).rejects.toThrow("ENOTFOUND");
  const found = await resolveBy(resolver, "localhost", { signal, local: true });
  expect(found.some(({ address }) => address === "127.0.0.1" || address === "::1")).toBe(true);
});

it("a server that never answers is waited for no longer than the caller waits", async () => {
  const resolver = await nameServer();
  const ended = new AbortController();
  const resolving = resolveBy(resolver, "slow.example", { signal: ended.signal, local: true });
  ended.abort();
  await expect(resolving).rejects.toThrow("ECANCELLED");
});
