import { createReadStream, createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createMD5, createSHA1, createSHA256 } from "hash-wasm";

// POST copies the body into a new file and syncs it, GET copies the last file out: the least that a server of files can do. A file that is written
// over would use the same memory of the system again, which a server that keeps its files cannot do. PUT adds a part to a file and syncs it, and saves
// the state of its three hashes: the least that a server of uploads can do which go on where they ended (contract console.md M15). DELETE removes that
// file, so that the files of all rounds fit the disk.
const [prefix = ""] = process.argv.slice(2);
const hashes = await Promise.all([createSHA256(), createSHA1(), createMD5()]);
for (const hash of hashes) hash.init();
let states = hashes.map((hash) => hash.save());
let files = 0;

const hashing = (): Transform =>
  new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (const hash of hashes) hash.update(chunk);
      done(null, chunk);
    },
  });

const server = createServer(async (req, res) => {
  try {
    if (req.method === "POST") {
      files += 1;
      await pipeline(req, createWriteStream(`${prefix}-${files}`, { flush: true }));
      res.end();
    } else if (req.method === "PUT") {
      for (const [n, hash] of hashes.entries()) hash.load(states[n] as Uint8Array);
      await pipeline(req, hashing(), createWriteStream(`${prefix}-parts`, { flags: "a", flush: true }));
      states = hashes.map((hash) => hash.save());
      res.end();
    } else if (req.method === "DELETE") {
      await rm(`${prefix}-parts`, { force: true });
      res.end();
    } else await pipeline(createReadStream(`${prefix}-${files}`, { highWaterMark: 256 * 1024 }), res);
  } catch {
    res.destroy();
  }
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit(0));
