import { expect, test } from "vitest";
import { createFrontendParser } from "./frontend-messages.ts";

const int32 = (n: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(n);
  return bytes;
};
const startup = (code: number, body = "") => Buffer.concat([int32(8 + body.length), int32(code), Buffer.from(body)]);
const message = (type: string, body = "") => Buffer.concat([Buffer.from(type), int32(4 + body.length), Buffer.from(body)]);

const SSL = 80877103;
const GSS = 80877104;
const VERSION_3 = 196608;

function pass(chunks: readonly Buffer[]) {
  let roundTrips = 0;
  let refused = 0;
  const parser = createFrontendParser({ onRoundTrip: () => (roundTrips += 1), refuseEncryption: () => (refused += 1) });
  const passed = Buffer.concat(chunks.map((chunk) => parser.pass(chunk)));
  return { roundTrips, refused, passed };
}

const session = [
  startup(SSL),
  startup(GSS),
  startup(VERSION_3, "user\0me\0\0"),
  message("p", "password S Q"),
  message("Q", "select 'S';\0"),
  message("P", "name\0select\0"),
  message("B", "SSSS"),
  message("D", "Sx"),
  message("E"),
  message("S"),
  message("X"),
];

test("Sync and Query are counted, other messages with their letters are not, and requests for encryption stop here", () => {
  expect(pass(session)).toEqual({ roundTrips: 2, refused: 2, passed: Buffer.concat(session.slice(2)) });
});

test("the count does not depend on how the bytes are cut", () => {
  const bytes = Buffer.concat(session);
  for (let size = 1; size <= bytes.length; size += 1) {
    const chunks = [];
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
    expect(pass(chunks)).toEqual({ roundTrips: 2, refused: 2, passed: Buffer.concat(session.slice(2)) });
  }
});

test("a cancel request passes and is not counted", () => {
  const cancel = startup(80877102, "pidskey_");
  expect(pass([cancel])).toEqual({ roundTrips: 0, refused: 0, passed: cancel });
});
