import { mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The folder for what the cases write; the folders that they make there end with the run. */
export const temporaryFolder = join(tmpdir(), `harrier-contract-files-${process.pid}`);

export default function setup(): () => void {
  mkdirSync(temporaryFolder, { recursive: true });
  return () => rmSync(temporaryFolder, { recursive: true, force: true });
}
