import { join } from "node:path";
import { cached, install } from "./cache.ts";

/** Answers the folder of a third-party client's package with its dependencies, installed by npm once and kept in the cache. */
export async function npmClient(name: string, version: string): Promise<string> {
  const installed = await cached(join("npm", `${name.replace("/", "-")}-${version}`), async (dir) => {
    const quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
    await install("npm", ["install", "--prefix", dir, ...quiet, `${name}@${version}`], { cwd: dir });
    return dir;
  });
  return join(installed, "node_modules", name);
}
