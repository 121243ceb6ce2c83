// Writes each file of dist beside itself as .br and .gz, so that no server compresses at run time.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const dist = join(dirname(dirname(fileURLToPath(import.meta.url))), "dist");
for (const name of readdirSync(dist, { recursive: true }).map(String)) {
  if (!/\.(js|css|html|svg)$/.test(name)) continue;
  const bytes = readFileSync(join(dist, name));
  writeFileSync(join(dist, `${name}.br`), brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
  writeFileSync(join(dist, `${name}.gz`), gzipSync(bytes, { level: 9 }));
}
