import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheDir } from "./cache.ts";
import { debianPackages } from "./debian.ts";

/** A browser that a test can start. */
export interface Chromium {
  readonly executable: string;
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
}

/** Chromium refuses its sandbox to root, as whom containers run. */
const args: readonly string[] = process.getuid?.() === 0 ? ["--no-sandbox"] : [];

const installed = "/usr/bin/chromium";

/** Answers the machine's own Chromium (`HARRIER_CHROMIUM` names another one), or unpacks Debian's with its fonts into the cache; nothing is installed. */
export async function installChromium(): Promise<Chromium> {
  const own = process.env["HARRIER_CHROMIUM"] ?? (existsSync(installed) ? installed : undefined);
  if (own !== undefined) return { executable: own, env: {}, args };
  const { root } = await debianPackages(["chromium", "fonts-dejavu-core", "fontconfig-config"]);
  const fonts = join(cacheDir, "fonts");
  mkdirSync(fonts, { recursive: true });
  const config = join(fonts, "fonts.conf");
  writeFileSync(
    config,
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${join(root, "usr/share/fonts")}</dir><cachedir>${join(fonts, "cache")}</cachedir></fontconfig>`,
  );
  return {
    executable: join(root, "usr/lib/chromium/chromium"),
    env: { LD_LIBRARY_PATH: foldersOf(root).join(":"), FONTCONFIG_FILE: config },
    args,
  };
}

/** The folders with libraries: some packages keep theirs in a folder of their own. */
function foldersOf(root: string): string[] {
  const files = readdirSync(root, { recursive: true, withFileTypes: true });
  const libraries = files.filter(({ name, parentPath }) => /\.so(\.|$)/.test(name) && !parentPath.endsWith("/chromium"));
  return [...new Set(libraries.map(({ parentPath }) => parentPath))];
}
