import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { cached, install } from "./cache.ts";

export interface PythonClient {
  readonly command: string;
  /** A process that imports the package needs this environment. */
  readonly env: Readonly<Record<"PYTHONPATH", string>>;
}

export interface PythonPackage {
  name: string;
  version: string;
  /** The dependencies of the part that is used, as `name==version`; what they need in turn is installed too. */
  needs: readonly string[];
}

/**
 * Unpacks a third-party client's package, installed by pip once and kept in the cache, apart from the machine's packages. It needs Python 3 with
 * pip.
 */
export async function pythonClient({ name, version, needs }: PythonPackage): Promise<PythonClient> {
  const folder = await cached(join("pypi", `${name}-${version}-python-${pythonVersion()}`), async (dir) => {
    const made = join(dir, "packages");
    const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--target", made];
    await install("python3", [...pip, ...needs]);
    await install("python3", [...pip, "--no-deps", `${name}==${version}`]);
    return made;
  });
  return { command: "python3", env: { PYTHONPATH: folder } };
}

/** Answers the version, as in 3.11, because what was compiled for one version does not fit another. */
function pythonVersion(): string {
  const { stdout, error } = spawnSync("python3", ["-c", "import sys; print('%d.%d' % sys.version_info[:2])"], { encoding: "utf8" });
  if (error !== undefined) throw new Error(`python3 is needed for this test: ${error.message}`);
  return stdout.trim();
}
