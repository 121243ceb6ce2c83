import { join } from "node:path";
import { cached, install } from "./cache.ts";

/** A package of another's client with all it needs, installed by npm once and kept in the cache; returns the package's folder. */
export async function npmClient(name: string, version: string): Promise<string> {
  const installed = await cached(join("npm", `${name.replace("/", "-")}-${version}`), async (dir) => {
    const quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
    await install("npm", ["install", "--prefix", dir, ...quiet, `${name}@${version}`], { cwd: dir });
    return dir;
  });
  return join(installed, "node_modules", name);
}
