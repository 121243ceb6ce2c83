const text = (value: string): Buffer => Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);
const map = (size: number, ...parts: Buffer[]): Buffer => Buffer.concat([Buffer.from([0xa0 + size]), ...parts]);

/** Encodes a device's feedback with this many messages "x", as CBOR (RFC 8949) in base64. Texts have fewer than 24 bytes. */
export function cborFeedback(actionId: number, messages: number): string {
  const details = Buffer.alloc(5 + 2 * messages);
  details[0] = 0x9a; // an array whose length is in the next four bytes
  details.writeUInt32BE(messages, 1);
  for (let n = 0; n < messages; n += 1) details.write("\x61x", 5 + 2 * n, "latin1");
  const result = map(1, text("finished"), text("none"));
  const status = map(3, text("execution"), text("proceeding"), text("result"), result, text("details"), details);
  return map(2, text("id"), text(String(actionId)), text("status"), status).toString("base64");
}
