import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { oneLine } from "./output/terminal.ts";

/** A file that becomes an artifact. */
export interface Upload {
  readonly softwareModuleId: number;
  readonly file: string;
  readonly filename: string;
  /** What the file must be. */
  readonly sha256?: string | undefined;
}

/** Hashes a file without holding it. */
export async function sha256Of(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

const barWidth = 24;

/** A bar with the share in percent. */
function drawn(share: number): string {
  const full = Math.min(barWidth, Math.floor(share * barWidth));
  return `${"█".repeat(full)}${"·".repeat(barWidth - full)} ${String(Math.floor(share * 100)).padStart(3)} %`;
}

/** Shows on standard error how much of a file is sent, if somebody looks. */
export function barOf(filename: string, size: number): { at(bytes: number): void; end(): void } {
  if (!process.stderr.isTTY) return { at: () => undefined, end: () => undefined };
  return {
    at: (bytes) => void process.stderr.write(`\r${oneLine(filename)} ${drawn(bytes / Math.max(1, size))}`),
    end: () => void process.stderr.write("\n"),
  };
}
