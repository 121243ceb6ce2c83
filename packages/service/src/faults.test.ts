import { spawnSync } from "node:child_process";
import { afterEach, describe, expect, it } from "vitest";
import { armFaults, faultPoint, faultPoints } from "./faults.ts";

afterEach(() => armFaults(undefined));

const run = (fault: string) => {
  const code = `
    import { armFaults, faultPoint } from ${JSON.stringify(new URL("./faults.ts", import.meta.url).href)};
    armFaults(${JSON.stringify(fault)});
    for (let pass = 1; pass <= 3; pass += 1) {
      await faultPoint("controller.report.after-commit");
      console.log(pass);
    }`;
  const { stdout, status, signal } = spawnSync(process.execPath, ["--no-warnings", "--input-type=module", "-e", code], {
    encoding: "utf8",
  });
  return { passes: stdout.trim().split("\n").filter(Boolean).length, status, signal };
};

describe("a fault point", () => {
  it("does nothing while no fault is armed", () => {
    for (const name of faultPoints) expect(faultPoint(name)).toBeUndefined();
  });

  it("kills at the requested pass", () => {
    expect(run("controller.report.after-commit:2")).toEqual({ passes: 1, status: null, signal: "SIGKILL" });
    expect(run("controller.report.after-commit:3:kill")).toEqual({ passes: 2, status: null, signal: "SIGKILL" });
  });

  it("exits or delays", async () => {
    expect(run("controller.report.after-commit:1:exit")).toEqual({ passes: 0, status: 1, signal: null });
    armFaults("controller.report.after-commit:1:delay=50, controller.assign.after-commit:1:delay=1");
    const began = performance.now();
    await faultPoint("controller.report.after-commit");
    expect(performance.now() - began).toBeGreaterThan(45);
    expect(faultPoint("controller.report.after-commit")).toBeUndefined();
    expect(faultPoint("controller.cancel.after-commit")).toBeUndefined();
  });

  it.each([
    "nowhere:1",
    "controller.report.after-commit:0",
    "controller.report.after-commit:x",
    "controller.report.after-commit:1:explode",
  ])("refuses %s", (text) => {
    expect(() => armFaults(text)).toThrow(/fault/);
  });
});

it("have names of service, operation and moment, each unique", () => {
  expect(new Set(faultPoints).size).toBe(faultPoints.length);
  for (const name of faultPoints) {
    expect(name).toMatch(/^(gateway|controller|management|artifact-store|rollout-engine|dmf)\.[a-z-]+\.(before|after)-[a-z]+$/);
  }
});
