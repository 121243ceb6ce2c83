import { createReadStream, createWriteStream } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";

// POST copies the body into a new file and syncs it, GET copies the last file out: the least that a server of files can do. A file that is written
// over would use the same memory of the system again, which a server that keeps its files cannot do.
const [prefix = ""] = process.argv.slice(2);
let files = 0;

const server = createServer(async (req, res) => {
  try {
    if (req.method === "POST") {
      files += 1;
      await pipeline(req, createWriteStream(`${prefix}-${files}`, { flush: true }));
      res.end();
    } else await pipeline(createReadStream(`${prefix}-${files}`, { highWaterMark: 256 * 1024 }), res);
  } catch {
    res.destroy();
  }
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit(0));
