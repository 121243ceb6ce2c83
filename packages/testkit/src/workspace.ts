import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's root (this file is packages/testkit/src or dist/workspace). */
export const workspaceRoot = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");

export const appDir = (app: string): string => join(workspaceRoot, "apps", app);
