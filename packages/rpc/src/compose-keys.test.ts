import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { keyPairsOf, parseKeys } from "./keys.ts";
import { serviceNames } from "./services.ts";

const script = fileURLToPath(new URL("../../../deploy/compose/make-secrets.mjs", import.meta.url));

it("the script of the composition creates the keys once and gives each service those of its own pairs, the same to both sides", () => {
  const dir = mkdtempSync(join(tmpdir(), "harrier-compose-"));
  try {
    const make = () => execFileSync(process.execPath, [script, dir]);
    const read = (name: string) => readFileSync(join(dir, name), "utf8").trim();
    make();
    const texts = serviceNames.map((service) => read(`secrets/${service}-identity-keys`));
    for (const [n, service] of serviceNames.entries()) {
      expect([...parseKeys(texts[n] as string, service).keys()].toSorted()).toEqual(keyPairsOf(service));
    }
    const keysOfPairs = new Map<string, Set<string>>();
    for (const part of texts.flatMap((text) => text.split(";"))) {
      const [pair = "", key = ""] = part.split("=k1:");
      keysOfPairs.set(pair, (keysOfPairs.get(pair) ?? new Set()).add(key));
    }
    expect([...keysOfPairs.values()].map((keys) => keys.size)).toEqual(Array(12).fill(1));
    expect(new Set([...keysOfPairs.values()].flatMap((keys) => [...keys])).size).toBe(12);
    expect(read(".env")).not.toContain("change-me");
    expect(statSync(join(dir, "secrets")).mode & 0o777).toBe(0o700);
    const first = read("secrets/secret-key");
    make();
    expect([read("secrets/secret-key"), ...serviceNames.map((service) => read(`secrets/${service}-identity-keys`))]).toEqual([
      first,
      ...texts,
    ]);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
