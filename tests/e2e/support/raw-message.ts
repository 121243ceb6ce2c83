import type { Channel } from "amqplib";

// Messages that no library writes: amqplib's own encoder neither nests so deep nor takes so much.

/** What amqplib's channel has besides its types. */
interface Inner {
  readonly ch: number;
  readonly connection: { sendBytes(bytes: Buffer): void };
}

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

const short = (text: string): Buffer => Buffer.concat([Buffer.from([Buffer.byteLength(text)]), Buffer.from(text)]);

/** A frame of type 1 (method) or 2 (headers of a message). */
const frame = (type: 1 | 2, channel: number, payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from([type, channel >> 8, channel & 255]), int32(payload.length), payload, Buffer.from([0xce])]);

/** A header whose value is a text. */
export const textHeader = (name: string, value: string): Buffer =>
  Buffer.concat([short(name), Buffer.from("S"), int32(Buffer.byteLength(value)), Buffer.from(value)]);

/** A header that is a table in a table in a table, so many deep; their names are empty. */
export function deepHeader(depth: number): Buffer {
  const tables: Buffer[] = [];
  for (let n = 0; n < depth; n += 1) tables.unshift(Buffer.concat([Buffer.from([0]), Buffer.from("F"), int32(n * 6)]));
  return Buffer.concat(tables);
}

/** Publishes a message without content and with these headers, as they are. */
export function sendRaw(channel: Channel, to: { exchange: string; routingKey?: string }, headers: readonly Buffer[]): void {
  const { ch, connection } = channel as unknown as Inner;
  const { exchange, routingKey = "" } = to;
  const publish = Buffer.concat([Buffer.from([0, 60, 0, 40, 0, 0]), short(exchange), short(routingKey), Buffer.from([0])]);
  const table = Buffer.concat(headers);
  const properties = Buffer.concat([Buffer.from([0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x20, 0]), int32(table.length), table]);
  connection.sendBytes(Buffer.concat([frame(1, ch, publish), frame(2, ch, properties)]));
}
