import { join } from "node:path";
import { cached, install } from "./cache.ts";

/**
 * Installs Python packages (`name==version`) with their dependencies in an environment that is created once and kept in the cache; returns its
 * interpreter. Programs in it are run as `-m name`, because their own files contain the path where they were created. It needs Python with `venv`.
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
