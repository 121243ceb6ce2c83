import { join } from "node:path";
import { cached, install } from "./cache.ts";

/**
 * Python packages (`name==version`) with all they need, in an environment of their own that is made once and kept in the cache; returns its
 * interpreter. Programs in it are run as `-m name`: their own files know only where they were made. Needs Python with `venv`.
 */
export async function pythonPackages(...packages: readonly [string, ...string[]]): Promise<string> {
  const environment = await cached(join("python", packages.join("-")), async (dir) => {
    await install("python3", ["-m", "venv", dir]);
    const quiet = ["--quiet", "--disable-pip-version-check", "--no-input"];
    await install(join(dir, "bin", "python"), ["-m", "pip", "install", ...quiet, ...packages]);
    return dir;
  });
  return join(environment, "bin", "python");
}
