import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createDirectoryStorage } from "./directory.ts";
import { describeStorage } from "./storage.suite.ts";

describeStorage("directory", async () => {
  const root = await mkdtemp(join(tmpdir(), "harrier-storage-"));
  return {
    storage: createDirectoryStorage(root),
    async contents() {
      const entries = await readdir(root, { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    },
    dispose: () => rm(root, { recursive: true, force: true }),
  };
});

it("rejects a key that leads out of the directory", async () => {
  await expect(createDirectoryStorage("/nowhere/store").stat("../other/file")).rejects.toThrow("leaves the storage directory");
});
