import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cached, install } from "./cache.ts";

/** A folder with the files of Debian packages, in their places under `/`. */
export interface DebianFiles {
  readonly root: string;
  /** A process that runs one of the programs in it needs this environment. */
  readonly env: Readonly<Record<"LD_LIBRARY_PATH" | "PATH", string>>;
}

/**
 * Unpacks Debian packages, and the dependencies that this machine lacks, from the machine's own package sources into the cache, once. Nothing is
 * installed, the machine's package lists stay as they are, and root is not needed.
 */
export async function debianPackages(names: readonly string[]): Promise<DebianFiles> {
  const root = await cached(join("debian", `${releaseOfDebian()}-${names.join("-")}`), async (dir) => {
    const lists = join(dir, "lists");
    const cache = join(dir, "cache");
    const archives = join(cache, "archives");
    for (const folder of [lists, archives]) mkdirSync(join(folder, "partial"), { recursive: true });
    // as root it would download as another user, who may not write here
    const settings = [`Dir::State::lists=${lists}`, `Dir::Cache=${cache}`, "APT::Sandbox::User=root", "Debug::NoLocking=true"];
    const options = ["-q", "-y", ...settings.flatMap((setting) => ["-o", setting])];
    await install("apt-get", [...options, "update"]);
    // it also downloads packages that the machine has already, which apt would otherwise skip
    await install("apt-get", [...options, "install", "--no-install-recommends", "--reinstall", "--download-only", ...names]);
    const unpacked = join(dir, "root");
    mkdirSync(unpacked);
    for (const file of readdirSync(archives).filter((name) => name.endsWith(".deb"))) {
      await install("dpkg-deb", ["--extract", join(archives, file), unpacked]);
    }
    return unpacked;
  });
  const folders = ["usr/lib", "lib"].map((folder) => join(root, folder)).flatMap((dir) => [dir, ...librariesIn(dir)]);
  return { root, env: { LD_LIBRARY_PATH: folders.join(":"), PATH: `${process.env["PATH"] ?? ""}:${join(root, "usr", "bin")}` } };
}

/** Answers the folder with the libraries, which is named after the processor, as in usr/lib/x86_64-linux-gnu. */
function librariesIn(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter((name) => name.includes("-linux-gnu"))
      .map((name) => join(dir, name));
  } catch {
    return [];
  }
}

/** Answers the release, as in debian-12-x64, because packages of one release do not fit another. */
function releaseOfDebian(): string {
  const fields = new Map<string, string>();
  try {
    for (const line of readFileSync("/etc/os-release", "utf8").split("\n")) {
      const [name = "", value = ""] = line.split("=");
      fields.set(name, value.replaceAll('"', ""));
    }
  } catch {
    // without Linux the error below says so
  }
  if (fields.get("ID") !== "debian" && !fields.get("ID_LIKE")?.split(" ").includes("debian")) {
    throw new Error("this test needs Debian packages, and so a machine with Debian (or a relative of it), apt-get and dpkg-deb");
  }
  return `${fields.get("ID")}-${fields.get("VERSION_ID") ?? fields.get("VERSION_CODENAME") ?? "testing"}-${process.arch}`;
}
