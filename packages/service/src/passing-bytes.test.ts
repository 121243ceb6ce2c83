import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { createPassingBytes } from "./passing-bytes.ts";

test("the young generation is collected after each 4 MiB that have passed, and nothing else is", () => {
  const collected: object[] = [];
  const passed = createPassingBytes((options) => collected.push(options));
  for (let n = 0; n < 4 * 4 * 3; n++) passed(256 * 1_024);
  expect(collected).toEqual([{ type: "minor" }, { type: "minor" }, { type: "minor" }]);
});

test("without --expose-gc memory is left to V8", () => {
  expect(() => createPassingBytes(undefined)(2 ** 30)).not.toThrow();
});

test("a process whose bytes pass does not collect its whole heap for them", () => {
  const script = `
    import { PerformanceObserver, constants } from "node:perf_hooks";
    import { createPassingBytes } from ${JSON.stringify(new URL("./passing-bytes.ts", import.meta.url).href)};
    const passed = process.argv[1] === "freed" ? createPassingBytes(globalThis.gc) : () => {};
    let whole = 0;
    const observer = new PerformanceObserver((list) => {
      for (const { detail } of list.getEntries()) if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) whole++;
    });
    observer.observe({ entryTypes: ["gc"] });
    for (let mib = 0; mib < 512; mib++) {
      for (let n = 0; n < 16; n++) passed(Buffer.allocUnsafeSlow(65_536).length);
      await new Promise(setImmediate);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
    console.log(whole);`;
  const flags = ["--expose-gc", "--max-semi-space-size=32", "--input-type=module"];
  // Memory is given back by threads of V8, which come late where the machine is busy: the least of three processes counts.
  const collections = (how: string) =>
    Math.min(...[1, 2, 3].map(() => Number(execFileSync(process.execPath, [...flags, "-e", script, how], { encoding: "utf8" }))));
  expect(collections("left to V8")).toBeGreaterThan(4);
  // one that began with the process may end meanwhile
  expect(collections("freed")).toBeLessThan(2);
});
