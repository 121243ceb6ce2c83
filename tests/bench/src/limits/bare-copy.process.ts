import { createReadStream, createWriteStream } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";

// POST copies the body into a file and syncs it, GET copies the file out: the least that a server of files can do.
const [file = ""] = process.argv.slice(2);
const server = createServer(async (req, res) => {
  try {
    if (req.method === "POST") {
      await pipeline(req, createWriteStream(file, { flush: true }));
      res.end();
    } else await pipeline(createReadStream(file, { highWaterMark: 256 * 1024 }), res);
  } catch {
    res.destroy();
  }
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit(0));
